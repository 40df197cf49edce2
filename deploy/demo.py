"""`python3 -m deploy demo`: start everything, post a conversation, walk it to its receipt."""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from deploy.bootstrap import ROOT
from deploy.demo_conversation import TURNS
from deploy.demo_walk import Walk
from deploy.local.faults import LocalFault, ServerFailed
from deploy.local.running import RunningStack
from deploy.local.stack import Stack, StackOptions

BLOCK_TURN_SIZE = 4
"""Small, so that forty turns show every level of detail."""

_PROCESS_S = 180.0
_POLL_S = 0.2
_PAGE_WIDTH = 120
_LIVE = ("available", "running", "retryable")


def run_demo(options: argparse.Namespace) -> int:
    """Walk a conversation from turn to receipt on a running stack; return the exit code."""
    console = _console()
    data_dir = options.data or ROOT / ".stratagate" / "demo"
    console.rule("[bold]StrataGate[/]: one conversation, from turn to receipt")
    console.print(
        "Starting Postgres, the broker, the API, the relay, a worker, Flower and the console …"
    )
    try:
        with Stack(data_dir, StackOptions(port=options.port)).up() as stack:
            _walk(stack, console)
            if options.keep:
                console.print(f"\nThe console is at [bold]{stack.console_url}[/]; sign in with the")
                console.print(f"key in {_from_here(stack.folder.key_file)}. Running until Ctrl-C.")
                stack.wait_for_end()
    except LocalFault as fault:
        console.print(f"[bold red]{fault}[/]")
        return 1
    return 0


def _walk(stack: RunningStack, console: Console) -> None:
    namespace = f"demo:{datetime.now(UTC):%Y%m%d-%H%M%S}"
    with httpx.Client(
        base_url=stack.api_url,
        headers={"Authorization": f"Bearer {stack.admin_key}"},
        timeout=30,
    ) as api:
        _post_conversation(api, namespace, console)
        _wait_for_jobs(api, namespace, console)
        Walk(api, namespace, console).show()
    _where_to_go(stack, namespace, console)


def _post_conversation(api: httpx.Client, namespace: str, console: Console) -> None:
    policy = {"block_turn_size": BLOCK_TURN_SIZE}
    api.put(f"/v1/namespaces/{namespace}", json=policy).raise_for_status()
    with _progress(console) as progress:
        bar = progress.add_task("posting turns", total=len(TURNS))
        for number, turn in enumerate(TURNS):
            body = turn.body(number)
            api.post(f"/v1/namespaces/{namespace}/turns", json=body).raise_for_status()
            progress.advance(bar)


def _wait_for_jobs(api: httpx.Client, namespace: str, console: Console) -> None:
    """Follow the job states until none is live; the bar counts the final ones."""
    with _progress(console) as progress:
        bar = progress.add_task("summarize → extract → project", total=None)

        def all_final() -> bool:
            live = sum(_count(api, namespace, state) for state in _LIVE)
            final = len(_jobs(api, namespace)) - live
            progress.update(bar, completed=final, total=final + live)
            return live == 0

        deadline = time.monotonic() + _PROCESS_S
        while not all_final():
            if time.monotonic() > deadline:
                raise ServerFailed("the jobs of the demo did not end; see the worker's log")
            time.sleep(_POLL_S)


def _jobs(api: httpx.Client, namespace: str, **query: str) -> list[dict[str, object]]:
    answer = api.get("/v1/jobs", params={"namespace": namespace, "limit": 200, **query})
    answer.raise_for_status()
    items: list[dict[str, object]] = answer.json()["items"]
    return items


def _count(api: httpx.Client, namespace: str, state: str) -> int:
    return len(_jobs(api, namespace, state=state))


def _progress(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
    )


def _where_to_go(stack: RunningStack, namespace: str, console: Console) -> None:
    console.rule("[bold]What to open next[/]")
    console.print(
        f"The memory of this demo is kept in namespace [bold]{namespace}[/]. To look around:\n"
        f"  python3 -m deploy up --data {_from_here(stack.folder.root)}\n"
        "prints the addresses of the console, where this memory can be seen and searched, of the\n"
        "API, described at /docs, and of Flower, whose queues are the stages of this walk.\n"
        "docs/walk.md tells the same walk function by function, and README.md shows how to post\n"
        "turns and ask for context from curl and Python.",
        soft_wrap=True,
    )


def _from_here(folder: Path) -> str:
    return str(folder.relative_to(ROOT)) if folder.is_relative_to(ROOT) else str(folder)


def _console() -> Console:
    """Return the terminal, or a page wide enough for the tables where the output is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=_PAGE_WIDTH)
