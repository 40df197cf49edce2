"""`python3 -m deploy setup | up | demo | test | bench | openapi | chaos | down`, by a bare Python.

This file runs on any Python 3, to say which one is needed; all else is imported after that.
"""

import os
import sys


def main() -> int:
    """Run one verb and return the exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the one place that an older Python reaches
        found = ".".join(str(part) for part in sys.version_info[:3])
        print("StrataGate needs Python 3.11 or newer, this is " + found + ": call another python3.")
        return 2
    if os.name != "posix":
        print("The local stack runs on Linux and macOS. On Windows, use WSL or containers.")
        return 2
    from deploy.commands import run  # noqa: PLC0415 - not readable by an older Python

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
