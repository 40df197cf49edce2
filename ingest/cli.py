"""Commands that write memory over the API, and `ingest`, which serves the API's write edge."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ingest.api_access import ApiKey, ApiUrl, AsJson, api_access
from ingest.posting import Report, call, open_client, post_turns
from ingest.transcripts import Destination, read_transcript
from shared.http import strict_json
from shared.http.serving import Host, Port, Processes, serve

_err = Console(stderr=True)
_SHOWN_PROBLEMS = 10

Namespace = Annotated[str, typer.Option("--namespace", "-n", help="Where the turns go.")]
Thread = Annotated[str | None, typer.Option("--thread", "-t", help="Absent: unthreaded.")]

turn_app = typer.Typer(help="One turn.", no_args_is_help=True)
turns_app = typer.Typer(help="Many turns.", no_args_is_help=True)


def serve_ingest(host: Host = "127.0.0.1", port: Port = 8080, processes: Processes = 1) -> None:
    """Serve the write edge until stopped: turns, jobs, keys, policy; needs Postgres alone."""
    serve("ingest.app:create_app", host=host, port=port, processes=processes)


@turn_app.command("post")
def turn_post(
    user: Annotated[str, typer.Option(help="What the user said.")],
    assistant: Annotated[str | None, typer.Option(help="What the assistant answered.")] = None,
    namespace: Namespace = "global:default",
    thread: Thread = None,
    occurred_at: Annotated[
        str | None, typer.Option(help="RFC 3339 with an offset; absent: now.")
    ] = None,
    receipt: Annotated[
        str | None, typer.Option(help="Absent: made of the content, so the same is stored once.")
    ] = None,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Post one completed turn."""
    messages = [{"role": "user", "content": user}]
    if assistant is not None:
        messages.append({"role": "assistant", "content": assistant})
    body: dict[str, Any] = {"messages": messages, "thread_id": thread, "occurred_at": occurred_at}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    body["receipt_id"] = receipt or f"cli:{digest[:32]}"
    url, key = api_access(api_url, api_key)
    with open_client(url, key) as client:
        answer = call(client, f"/v1/namespaces/{namespace}/turns", body)
    if as_json:
        typer.echo(json.dumps(answer))
        return
    state = "stored before" if answer["duplicate"] else "stored"
    typer.echo(
        f"{state}: {answer['turn_id']}, turn {answer['sequence']} of thread "
        f"{answer['thread_id']}; open tail: {answer['open_tail_turns']}"
    )


@turns_app.command("load")
def turns_load(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    namespace: Namespace = "global:default",
    thread: Thread = None,
    seal: Annotated[bool, typer.Option("--seal", help="Seal where a session ends.")] = False,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Load a transcript: chat messages (JSON or JSONL) or LoCoMo; loading again adds nothing.

    LoCoMo brings its own namespaces and thread. Exit code 1 when a turn was refused.
    """
    turns = read_transcript(strict_json.decode(file.read_bytes()), Destination(namespace, thread))
    url, key = api_access(api_url, api_key)
    with open_client(url, key) as client, _progress() as progress:
        task = progress.add_task("turns", total=len(turns))
        report = post_turns(
            client, turns, seal=seal, on_progress=lambda n: progress.advance(task, n)
        )
    _say(report, as_json=as_json)
    if report.problems:
        raise typer.Exit(1)


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=_err, transient=not _err.is_terminal)


def _say(report: Report, *, as_json: bool) -> None:
    if as_json:
        content = {name: getattr(report, name) for name in Report.__slots__}
        typer.echo(json.dumps(content))
        return
    typer.echo(
        f"stored {report.stored}, stored before {report.duplicates}, ignored {report.ignored}, "
        f"refused {len(report.problems)}; blocks sealed {report.sealed_blocks}"
    )
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        _err.print(f"[bold red]refused[/] {problem}", highlight=False)
