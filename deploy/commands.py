"""The verbs of the local stack: `setup` makes .venv, the others run inside it."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

from deploy.bench import NAMES
from deploy.bootstrap import ROOT, SetupFailed, inside_venv, run_inside_venv, setup

_DATA = ROOT / ".stratagate"


def run(arguments: list[str]) -> int:
    """Carry one command line out and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        was_needed = setup()
    except SetupFailed as failure:
        print(failure)
        return 1
    if options.verb == "setup":
        if not was_needed:
            print(f"{ROOT / '.venv'} is up to date.")
        return 0
    if was_needed or not inside_venv():
        run_inside_venv(arguments)
    return _dispatch(options)


def _dispatch(options: argparse.Namespace) -> int:
    # Imported here: these modules need what only .venv has.
    if options.verb == "up":
        from deploy.up import run_up  # noqa: PLC0415

        return run_up(options)
    if options.verb == "down":
        from deploy.down import run_down  # noqa: PLC0415

        return run_down(options.data)
    if options.verb == "test":
        from deploy.checks import run_checks  # noqa: PLC0415

        return run_checks(full=options.full, only=options.only)
    if options.verb == "bench":
        from deploy.bench import run_bench  # noqa: PLC0415

        return run_bench(options)
    if options.verb == "openapi":
        from deploy.openapi import run_openapi  # noqa: PLC0415

        return run_openapi()
    return _interruptible(options)


def _interruptible(options: argparse.Namespace) -> int:
    """Run a verb with a stack of its own so that both ways to interrupt it stop that stack."""
    from deploy.chaos.command import run_chaos  # noqa: PLC0415
    from deploy.demo import run_demo  # noqa: PLC0415

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run_chaos(options) if options.verb == "chaos" else run_demo(options)
    except KeyboardInterrupt:
        print("\nStopped; the data stays.")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m deploy", description="StrataGate on this machine, without Docker."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("setup", help="make .venv and install the locked dependencies")
    up = verbs.add_parser("up", help="start database, broker, API, workers, Flower and console")
    _data(up)
    up.add_argument("--port", type=_port, default=8080, help="port of the API (0: a free one)")
    up.add_argument("--apart", action="store_true", help="a process and port for each service")
    up.add_argument("--retrieval-port", type=_port, default=0, help="with --apart (0: a free one)")
    up.add_argument("--detach", action="store_true", help="return once it is ready")
    demo = verbs.add_parser("demo", help="start, post a conversation, walk it to its receipt")
    _data(demo, default=None)
    demo.add_argument("--port", type=_port, default=0, help="port of the API (0: a free one)")
    demo.add_argument("--keep", action="store_true", help="leave the stack running afterwards")
    test = verbs.add_parser("test", help="run all checks")
    test.add_argument("--full", action="store_true", help="the long forms as well")
    test.add_argument("--only", metavar="STEP", help="one step, by its name")
    bench = verbs.add_parser("bench", help="run the performance benchmarks")
    bench.add_argument("--full", action="store_true", help="the long forms; an hour or more")
    bench.add_argument("--only", metavar="NAME", choices=NAMES, help="one of: %(choices)s")
    bench.add_argument(
        "--out",
        type=Path,
        default=_DATA / "bench",
        metavar="DIR",
        help="folder of the results files (default: .stratagate/bench)",
    )
    verbs.add_parser("openapi", help="write the API's document, docs/reference/openapi.json")
    chaos = verbs.add_parser("chaos", help="break a stack of its own and prove its promises")
    _data(chaos, default=None)
    chaos.add_argument("--faults", type=_count, default=300, help="how many (default: 300)")
    chaos.add_argument("--seed", type=int, default=1, help="of the order of the faults")
    chaos.add_argument("--json", type=Path, metavar="FILE", help="write the report here as well")
    _data(verbs.add_parser("down", help="stop a running stack; data is never deleted"))
    return parser


def _data(parser: argparse.ArgumentParser, default: Path | None = _DATA) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=default,
        metavar="DIR",
        help=f"data folder (default: {default or 'one of its own'})",
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f"{text} is not a port: choose 1 to 65535, or 0")
    return int(text)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text} is not a number of faults: choose 1 or more")
    return int(text)
