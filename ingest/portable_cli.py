"""Erase, export and restore on the command line, over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
import typer
from rich.console import Console

from ingest.api_access import ApiKey, ApiUrl, AsJson, client_of, read
from ingest.posting import Refused, answer_of, call

_POLL_S: Final = 0.5
_out = Console()
Namespace = Annotated[str, typer.Argument(help="Such as project:demo.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Only begin; do not watch.")]


def erase(
    namespace: Namespace,
    turn: Annotated[str | None, typer.Option(help="A turn's id.")] = None,
    thread: Annotated[str | None, typer.Option(help="A thread's name.")] = None,
    label: Annotated[str | None, typer.Option(help="Turns with this label: name=value.")] = None,
    event: Annotated[str | None, typer.Option(help="An event's id; its turn stays.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="The namespace as a whole.")] = False,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Erase. Absent: only count what would go.")
    ] = False,
    no_wait: NoWait = False,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Count what an erasure would take; with --for-good, erase it and print the certificate."""
    named = {"turn": turn, "thread": thread, "label": label, "event": event}
    selector = {name: value for name, value in named.items() if value is not None}
    if everything:
        selector["namespace"] = namespace
    body = {"selector": selector, "dry_run": not for_good}
    with client_of(api_url, api_key) as client:
        answer = call(client, f"/v1/namespaces/{namespace}/erasures", body)
        if for_good and not no_wait:
            answer = _watched(client, f"/v1/erasures/{answer['erasure_id']}")
    _tell(answer.get("certificate") or answer, as_json=as_json)


def export(
    namespace: Namespace,
    to: Annotated[Path, typer.Option(help="The file to write; it must not exist.")],
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Write a namespace as a bundle, and fetch that into a file."""
    if to.exists():
        raise typer.BadParameter(f"{to} exists already")
    with client_of(api_url, api_key) as client:
        begun = call(client, f"/v1/namespaces/{namespace}/exports", None)
        done = _watched(client, f"/v1/exports/{begun['export_id']}")
        with client.stream("GET", done["bundle"]) as response, to.open("xb") as file:
            if response.is_error:
                raise Refused(f"the bundle could not be fetched: {response.status_code}")
            for piece in response.iter_bytes():
                file.write(piece)
    _tell({"file": str(to), **done}, as_json=as_json)


def restore(
    namespace: Namespace,
    bundle: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A bundle's file.")],
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Restore a bundle into an empty namespace: all of it or nothing."""
    headers = {"Content-Type": "application/gzip"}
    path = f"/v1/namespaces/{namespace}/restore"
    with client_of(api_url, api_key) as client:
        answer = answer_of(
            client, lambda: client.post(path, content=bundle.read_bytes(), headers=headers)
        )
    _tell(answer, as_json=as_json)


def _watched(client: httpx.Client, path: str) -> dict[str, Any]:
    """Wait until what runs is over. Raises Refused when its job has ended and it has not."""
    while True:
        found = read(client, path, {})
        if found["state"] != "running":
            return found
        job = read(client, f"/v1/jobs/{found['job_id']}", {})
        if job["state"] in ("dead", "cancelled"):
            raise Refused(f"its job is {job['state']}: {job['reason']}; retry {found['job_id']}")
        time.sleep(_POLL_S)


def _tell(answer: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(answer))
        return
    for name, value in answer.items():
        words = json.dumps(value) if isinstance(value, dict | list) else value
        _out.print(f"{name}: {words}", highlight=False, markup=False)
