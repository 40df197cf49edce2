"""External memory on the command line, over HTTP: `import prompt|file|show|confirm|undo`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ingest.api_access import ApiKey, ApiUrl, AsJson, client_of, read
from ingest.posting import call
from shared.domain.external_memory_parse import ImportSource

_POLL_S: Final = 0.5
_BUSY: Final = ("extracting", "processing")
_out, _err = Console(), Console(stderr=True)

import_app = typer.Typer(help="What another assistant remembers.", no_args_is_help=True)
ImportId = Annotated[str, typer.Argument(metavar="IMPORT", help="An id: imp_…")]


@import_app.command("prompt")
def import_prompt(
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
) -> None:
    """Print the prompt to paste into the other assistant."""
    with client_of(api_url, api_key) as client:
        found = read(client, "/v1/import-prompt", {"language": language})
    typer.echo(found["prompt"])


@import_app.command("file")
def import_file(
    path: Annotated[Path, typer.Argument(help="The export as a file; - reads from the input.")],
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Where it goes.")],
    source: Annotated[ImportSource, typer.Option(help="Whose format it is in.")] = (
        ImportSource.AUTO
    ),
    top_k: Annotated[int, typer.Option(min=1, max=20, help="Matches a candidate.")] = 5,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Only begin; do not watch.")] = False,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Begin an import and show its preview once every candidate is decided.

    Nothing is written before `import confirm`. Exit code 1 when it failed.
    """
    text = typer.get_text_stream("stdin").read() if str(path) == "-" else _text_of(path)
    body = {"text": text, "source": source.value, "top_k": top_k}
    with client_of(api_url, api_key) as client:
        begun = call(client, f"/v1/namespaces/{namespace}/imports", body)
        page = begun if no_wait else _watch(client, begun["import_id"])
    if as_json:
        typer.echo(json.dumps(page))
    elif no_wait:
        _out.print(f"{page['import_id']}: {page['status']}", highlight=False)
    else:
        _say(page)
    if page["status"] == "failed":
        raise typer.Exit(1)


@import_app.command("show")
def import_show(
    import_id: ImportId, api_url: ApiUrl = None, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """Show an import: its candidates, what they resemble, and what was decided."""
    with client_of(api_url, api_key) as client:
        page = read(client, f"/v1/imports/{import_id}", {})
    if as_json:
        typer.echo(json.dumps(page))
        return
    _say(page)


@import_app.command("confirm")
def import_confirm(
    import_id: ImportId,
    decide: Annotated[
        list[str] | None,
        typer.Option(
            "--decide",
            metavar="INDEX=ACTION[:EVENT,…]",
            help="Such as 0=ADD, 3=IGNORE or 2=MERGE:evt_…; repeat it for more.",
        ),
    ] = None,
    ignore_unanswered: Annotated[
        bool, typer.Option("--ignore-unanswered", help="Leave out what waits for a person.")
    ] = False,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Commit an import, all of it or nothing."""
    body = {
        "decisions": [_decision(one) for one in decide or ()],
        "ignore_unanswered": ignore_unanswered,
    }
    with client_of(api_url, api_key) as client:
        done = call(client, f"/v1/imports/{import_id}/confirm", body)
    if as_json:
        typer.echo(json.dumps(done))
        return
    counts = ", ".join(f"{number} {action}" for action, number in done["actions"].items() if number)
    _out.print(f"{import_id} committed: {counts or 'nothing to add'}", highlight=False)


@import_app.command("undo")
def import_undo(
    import_id: ImportId, api_url: ApiUrl = None, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """Take a committed import back; memory is as it was before."""
    with client_of(api_url, api_key) as client:
        done = call(client, f"/v1/imports/{import_id}/undo", {})
    if as_json:
        typer.echo(json.dumps(done))
    elif done["already_undone"]:
        _out.print(f"{import_id} was undone already", highlight=False)
    else:
        removed, restored = len(done["removed_event_ids"]), len(done["restored_event_ids"])
        _out.print(f"{import_id} undone: {removed} removed, {restored} restored", highlight=False)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} cannot be read as text: {error}") from error


def _decision(said: str) -> dict[str, Any]:
    index, _, rest = said.partition("=")
    action, _, targets = rest.partition(":")
    if not index.strip().isdecimal() or not action:
        raise typer.BadParameter(f"'{said}' is not INDEX=ACTION or INDEX=ACTION:EVENT")
    return {
        "candidate_index": int(index),
        "action": action.strip().upper(),
        "existing_event_ids": [one.strip() for one in targets.split(",") if one.strip()],
    }


def _watch(client: httpx.Client, import_id: str) -> dict[str, Any]:
    """Follow an import until a person can confirm it or it has failed."""
    try:
        with _err.status("deciding") as status:
            while True:
                page = read(client, f"/v1/imports/{import_id}", {})
                at = page["progress"]
                if page["status"] not in _BUSY:
                    return page
                status.update(f"{page['status']}: {at['decided']} of {at['total']} decided")
                time.sleep(_POLL_S)
    except KeyboardInterrupt:
        _err.print(f"{import_id} goes on; see `stratagate import show`", highlight=False)
        raise typer.Exit(130) from None


def _say(page: Mapping[str, Any]) -> None:
    _out.print(f"{page['import_id']}: {page['status']}", highlight=False)
    table = Table("", "candidate", "decision", "sure", "about", "reason")
    for one in page["candidates"]:
        decision = one["answer"] or one["decision"] or {}
        mark = "?" if one["requires_confirmation"] else ""
        table.add_row(
            f"{one['index']}{mark}",
            escape(one["title"] or ""),
            decision.get("action", "…"),
            f"{decision['confidence']:.2f}" if decision else "",
            escape(_about(one, decision)),
            escape(decision.get("reason") or ""),
        )
    if page["candidates"]:
        _out.print(table)
    for item in page["skipped"]:
        _out.print(f"item {item['index']} is not imported: {item['code']}", highlight=False)
    for job in page["jobs"]:
        if job["reason"]:
            _err.print(f"{job['job_id']} {job['state']}: {job['reason']}", highlight=False)
    if page["status"] == "awaiting_confirmation":
        _out.print("candidates marked ? wait for you: `stratagate import confirm`")


def _about(candidate: Mapping[str, Any], decision: Mapping[str, Any]) -> str:
    titles = {one["event_id"]: one["title"] for one in candidate["matches"]}
    named = decision.get("existing_event_ids", ())
    return "; ".join(f"{titles.get(one) or '(hidden)'} ({one})" for one in named)
