"""`up`: run the stack in this terminal until Ctrl-C, or start it in the background."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from deploy.bootstrap import ROOT
from deploy.local.faults import Interrupted, LocalFault
from deploy.local.instance import InstanceFolder, InstanceState
from deploy.local.stack import Stack, StackOptions
from deploy.local.terminal import Terminal

_DETACHED_LIMIT_S = 240.0


def run_up(options: argparse.Namespace) -> int:
    """Carry `up` out; 0 after a clean end, 1 with the reason when it could not start."""
    data = options.data.resolve()
    if not options.detach:
        return _here(data, options)
    try:
        return _detached(data, options)
    except LocalFault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1


def summary(folder: InstanceFolder, state: InstanceState) -> str:
    """Return where everything is; secrets by the path of their file, never themselves."""
    apart = state.retrieval_url != state.api_url
    rows = [("Console", state.console_url)] if state.console_url else []
    rows += [
        ("API (ingest)" if apart else "API", state.api_url),
        ("API docs", f"{state.api_url}/docs"),
    ]
    if apart:
        rows.append(("API (retrieval)", state.retrieval_url))
    rows.append(("API key", str(folder.key_file)))
    if state.flower_url:
        rows.append(("Flower", f"{state.flower_url}   user:password in {folder.flower_file}"))
    rows += [(f"Metrics ({name})", url) for name, url in state.metrics_urls.items()]
    rows += [("Logs", str(folder.logs)), ("Data", str(folder.root))]
    if state.moved_to:
        rows.append(("Database files", state.moved_to))
    rows.append(("Stop", f"python3 -m deploy down --data {folder.root}"))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)


def _here(data: Path, options: argparse.Namespace) -> int:
    stack = Stack(
        data,
        StackOptions(port=options.port, retrieval_port=options.retrieval_port, apart=options.apart),
        terminal=Terminal(),
    )

    def end(_number: int, _frame: FrameType | None) -> None:
        stack.supervisor.request_end()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    try:
        running = stack.up()
        print(f"\nStrataGate is ready.\n\n{summary(running.folder, running.state)}\n", flush=True)
        running.wait_for_end()
        print("Stopping; once more to hurry …", flush=True)
        running.stop()
    except Interrupted as interrupted:
        print(interrupted)
        return 130
    except LocalFault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    print(f"Stopped. The data stays in {data}.")
    return 0


def _detached(data: Path, options: argparse.Namespace) -> int:
    folder = InstanceFolder(data)
    folder.create()
    command = [sys.executable, "-m", "deploy", "up", "--data", str(data)]
    command += ["--port", str(options.port), "--retrieval-port", str(options.retrieval_port)]
    command += ["--apart"] if options.apart else []
    log = folder.logs / "stack.log"
    began = log.stat().st_size if log.exists() else 0
    with log.open("ab") as stream:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    deadline = time.monotonic() + _DETACHED_LIMIT_S
    while process.poll() is None and time.monotonic() < deadline:
        state = folder.read()
        if state is not None and (state.supervisor_pid, state.status) == (process.pid, "ready"):
            print(f"StrataGate is ready, in the background.\n\n{summary(folder, state)}\n")
            return 0
        time.sleep(0.1)
    said = log.read_bytes()[began:].decode("utf-8", errors="replace")
    print(f"error: StrataGate did not start.\n{said}", file=sys.stderr)
    if process.poll() is None:
        process.terminate()
        process.wait()
    return 1
