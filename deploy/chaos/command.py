"""`python3 -m deploy chaos`: run it, print the report, and say by the exit code what came of it."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from deploy.chaos.plan import endless_plan
from deploy.chaos.provider import Provider, provider
from deploy.chaos.run import Chaos
from deploy.local.faults import LocalFault
from deploy.local.postgres_home import discard_home
from deploy.local.terminal import Terminal


def run_chaos(options: argparse.Namespace) -> int:
    """Return 0 when every promise holds, 1 when one is broken or the stack did not come back.

    A folder of its own is deleted after a run that passed, and kept, with its logs, after others.
    """
    with provider() as played:
        return _run(options, played)


def _run(options: argparse.Namespace, played: Provider) -> int:
    data_dir = options.data or Path(tempfile.mkdtemp(prefix="stratagate-chaos-"))
    chaos = Chaos(
        data_dir,
        plan=endless_plan(options.seed, plays=played.plays()),
        provider=played,
        seed=options.seed,
        terminal=Terminal(),
    )
    is_passed = False
    try:
        is_passed = chaos.run(faults=options.faults).is_passed
    except (LocalFault, TimeoutError) as fault:
        print(f"error: {fault}")
    finally:
        print(f"\n{chaos.report.as_markdown()}\n")
        if options.json is not None:
            text = json.dumps(chaos.report.as_json(), indent=2)
            options.json.write_text(text + "\n", encoding="utf-8")
            print(f"Report: {options.json}")
        if is_passed and options.data is None:
            discard_home(data_dir / "postgres")
            shutil.rmtree(data_dir)
        else:
            print(f"Data and logs: {data_dir}")
    return 0 if is_passed else 1
