"""Batch work gives way to live work."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("queues", "lowers"),
    [(["backfill"], True), (["summarize", "backfill"], False), (["extract"], False)],
)
def test_only_a_worker_of_the_backfill_alone_lowers_its_priority(
    queues: list[str], lowers: bool
) -> None:
    told = subprocess.run(  # noqa: S603 - our own module; a priority cannot be raised again
        [
            sys.executable,
            "-c",
            "import os; from workers.give_way import give_way; "
            f"give_way({queues!r}); print(os.nice(0))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (int(told.stdout) > os.nice(0)) == lowers or os.nice(0) == 19
