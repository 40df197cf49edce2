"""Latency, index and context by the size of a database: search_scale at one size after another.

Run `python -m tests.bench.growth [--sizes 1000,10000] [--out DIR]`. Each size leaves a results file
of its own, of which the report makes one table and one plot; it deletes its database.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_MOST_NAMESPACES = 1_000
_LEAST_NAMESPACES = 5
"""Every fifth speaks Chinese."""


def main() -> int:
    """Run each size; the first that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=_sizes, default=(1_000, 10_000), help="messages; events")
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/stratagate-growth"))  # noqa: S108 - large
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the results files")
    given = parser.parse_args()
    for size in given.sizes:
        sys.stderr.write(f"{size} events\n")
        command = command_of(size, requests=given.requests, folder=given.folder, out=given.out)
        ended = subprocess.run([sys.executable, *command], check=False)  # noqa: S603 - our own module
        if ended.returncode:
            return ended.returncode
    return 0


def command_of(size: int, *, requests: int, folder: Path, out: Path) -> Sequence[str]:
    """Return the arguments of one size: as many events as messages, a namespace for a thousand."""
    namespaces = min(_MOST_NAMESPACES, max(_LEAST_NAMESPACES, size // 1_000))
    return (
        "-m", "tests.bench.search_scale",
        "--messages", str(size),
        "--events", str(size),
        "--namespaces", str(namespaces),
        "--requests", str(requests),
        "--folder", str(folder / str(size)),
        "--json", str(out / f"growth-{size}.json"),
    )  # fmt: skip


def _sizes(text: str) -> tuple[int, ...]:
    sizes = [one.strip() for one in text.split(",")]
    if not all(one.isascii() and one.isdigit() and int(one) >= 1_000 for one in sizes):
        raise argparse.ArgumentTypeError(f"{text}: numbers of at least 1000, by commas")
    return tuple(int(one) for one in sizes)


if __name__ == "__main__":
    sys.exit(main())
