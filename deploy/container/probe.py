#!/usr/bin/env python3
"""The container's health check: exit code 0 when a GET of the URL, or of HEALTH_URL, answers 200.

Standard library alone, as it runs every few seconds beside each process.
"""

import os
import sys
import urllib.error
import urllib.request

_DEFAULT = "http://127.0.0.1:8080/health/live"
_TIMEOUT_S = 4


def main() -> int:
    """Ask once; what was wrong stands on standard error, for `docker inspect`."""
    url = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("HEALTH_URL", _DEFAULT)
    # No proxy of the environment: what is asked is this very container.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_TIMEOUT_S) as answer:
            return 0 if answer.status == 200 else 1
    except (urllib.error.URLError, OSError, ValueError) as error:
        print(f"{url}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
