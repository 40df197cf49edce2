"""`python3 -m deploy bench`: run the performance benchmarks, each with servers of its own.

Each writes a results file that `stratagate eval report` reads.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deploy.bootstrap import ROOT


@dataclass(frozen=True, slots=True)
class Bench:
    """One benchmark: its module, its arguments in the small and in the full form.

    `writes` is the option that takes its results: a file, or with `is_many` a folder of them.
    """

    name: str
    module: str
    small: str
    full: str
    writes: str = "--json"
    is_many: bool = False


BENCHES = (
    Bench("ingest", "ingest", "--rounds 3 --turns 40 --batches 1", "--rounds 10 --turns 200"),
    Bench(
        "pipeline",
        "pipeline",
        "--blocks 20 --noops 500 --trips 5",
        "--blocks 120 --noops 2000 --trips 40",
    ),
    Bench(
        "search",
        "search_scale",
        "--messages 5000 --namespaces 5 --requests 20 --folder /var/tmp/stratagate-bench-search",
        "--messages 100000 --namespaces 100 --requests 200 "
        "--folder /var/tmp/stratagate-bench-search",
    ),
    Bench(
        "reprojection",
        "reproject",
        "--events 120 --runs 1 --searches 12 --blocks 2",
        "--events 10000 --runs 5",
    ),
    Bench("memory", "memory", "--turns 240 --searches 40", "--turns 6000 --searches 400"),
    Bench(
        "growth",
        "growth",
        "--sizes 1000,3000 --requests 10",
        "--sizes 1000,10000,100000,1000000 --requests 200",
        writes="--out",
        is_many=True,
    ),
)
"""In the order in which they run. docs/howto/benchmarks.md tells their sizes and times."""

NAMES = tuple(bench.name for bench in BENCHES)


def run_bench(options: argparse.Namespace) -> int:
    """Run all, or the one named; 0 where each of them ended well."""
    out: Path = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    for bench in BENCHES:
        if options.only not in (None, bench.name):
            continue
        print(f"\n== {bench.name} ({'full' if options.full else 'small'} form) ==", flush=True)
        began = time.monotonic()
        ended = subprocess.run(_command(bench, out, full=options.full), cwd=ROOT, check=False)
        print(f"{bench.name}: {time.monotonic() - began:.0f} s, exit code {ended.returncode}")
        if ended.returncode:
            failed.append(bench.name)
    if failed:
        print(f"\nFailed: {', '.join(failed)}")
        return 1
    print(f"\nResults: {out}\nThe report: stratagate eval report --results {out} --out FILE")
    return 0


def _command(bench: Bench, out: Path, *, full: bool) -> Sequence[str]:
    target = out if bench.is_many else out / f"{bench.name}.json"
    return [
        sys.executable,
        "-m",
        f"tests.bench.{bench.module}",
        *(bench.full if full else bench.small).split(),
        bench.writes,
        str(target),
    ]
