"""Batch re-derivation on the command line, over HTTP: `reprocess` and `reproject`.

Both only watch what the workers build: stopped and called again, they join the running build.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import httpx
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ingest.api_access import ApiKey, ApiUrl, AsJson, client_of, read
from ingest.posting import Refused, call

_POLL_S: Final = 0.5
_SHOWN: Final = 8
_TRIES: Final = 20
_KINDS: Final = ("events", "nodes", "facts", "edges")
_out, _err = Console(), Console(stderr=True)

Switch = Annotated[bool, typer.Option("--switch", help="Make the version live once it is whole.")]
AcceptFailed = Annotated[
    bool, typer.Option("--accept-failed", help="Switch although blocks of it have failed.")
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Only begin or join; do not watch.")]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one call of the command line asks for, beside where."""

    body: Mapping[str, Any]
    switch: bool = False
    accept_failed: bool = False
    wait: bool = True


def reprocess(
    namespace: Annotated[str, typer.Argument(help="Such as project:demo.")],
    stage: Annotated[
        list[str], typer.Option(help="summarize, extract or project; those after it follow.")
    ],
    provider: Annotated[
        str | None, typer.Option(help="With --model; absent: the policy's.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="With --provider.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="Earlier blocks keep their events. RFC 3339.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Later blocks do. RFC 3339.")] = None,
    switch: Switch = False,
    accept_failed: AcceptFailed = False,
    no_wait: NoWait = False,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Derive a namespace anew beside what is live, show the difference, and switch if told to.

    Called again, it joins the running build. Exit code 1 when blocks have failed.
    """
    given = {"provider": provider, "model": model, "from": start, "to": end}
    body = {"stages": stage} | {name: value for name, value in given.items() if value is not None}
    wanted = Wanted(body, switch=switch, accept_failed=accept_failed, wait=not no_wait)
    with client_of(api_url, api_key) as client:
        _finish([_run(client, namespace, wanted)], as_json=as_json)


def reproject(
    namespace: Annotated[str | None, typer.Argument(help="Absent: give --all.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every namespace that the key reaches.")
    ] = False,
    switch: Switch = False,
    accept_failed: AcceptFailed = False,
    no_wait: NoWait = False,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Build the graph anew from the events there are: of one namespace, or of all.

    Called again, it joins the running build. Exit code 1 when blocks have failed.
    """
    if (namespace is None) != everything:
        raise typer.BadParameter("name a namespace, or give --all")
    wanted = Wanted(
        {"stages": ["project"]}, switch=switch, accept_failed=accept_failed, wait=not no_wait
    )
    with client_of(api_url, api_key) as client:
        names = [namespace] if namespace is not None else _namespaces(client)
        _finish([_run(client, name, wanted) for name in names], as_json=as_json)


def _run(client: httpx.Client, namespace: str, wanted: Wanted) -> dict[str, Any]:
    """Begin or join, watch, compare and switch; return what is told of it."""
    home = f"/v1/namespaces/{namespace}"
    begun = call(client, f"{home}/reprocess", dict(wanted.body))
    version_id = begun["graph_version_id"]
    told: dict[str, Any] = {"namespace": namespace, **begun}
    if not wanted.wait:
        return told
    path = f"{home}/graph-versions/{version_id}"
    try:
        version = _watch(namespace, lambda: read(client, path, {}))
    except KeyboardInterrupt:
        _err.print(
            f"{version_id} is still being built by the workers; the same command joins it",
            highlight=False,
        )
        raise typer.Exit(130) from None
    told |= {"progress": version["progress"], "diff": read(client, f"{path}/diff", {})}
    if wanted.switch and (version["is_whole"] or wanted.accept_failed):
        told["switched"] = _switch(client, path, wanted)
    return told


def _watch(namespace: str, look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Follow a build until nothing of it is on its way; a bar shows how far it is."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=_err, transient=not _err.is_terminal) as bar:
        task = bar.add_task(escape(namespace), total=None, failed="")
        while True:
            version = look()
            at = version["progress"]
            failed = f"{at['failed']} failed" if at["failed"] else ""
            bar.update(task, total=at["total"], completed=at["done"], failed=failed)
            if not at["waiting"]:
                return version
            time.sleep(_POLL_S)


def _switch(client: httpx.Client, path: str, wanted: Wanted) -> dict[str, Any]:
    """Switch; what became ready in between is waited for, a few times."""
    for attempt in range(_TRIES):
        try:
            return call(client, f"{path}/switch", {"accept_failed": wanted.accept_failed})
        except Refused as refusal:
            if refusal.code != "shadow_incomplete" or attempt == _TRIES - 1:
                raise
            time.sleep(_POLL_S)
    raise AssertionError("unreachable: the last try returns or raises")


def _namespaces(client: httpx.Client) -> list[str]:
    names: list[str] = []
    cursor: str | None = None
    while True:
        asked = {"limit": 200} | ({"cursor": cursor} if cursor else {})
        page = read(client, "/v1/namespaces", asked)
        names += [one["namespace"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return names


def _finish(runs: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(runs))
    else:
        for run in runs:
            _say(run)
    if any(run.get("progress", {}).get("failed") for run in runs):
        raise typer.Exit(1)


def _say(run: Mapping[str, Any]) -> None:
    verb = "joined" if run["joined"] else "began"
    _out.print(
        f"{escape(run['namespace'])}: {verb} {run['graph_version_id']}, {run['jobs']} job(s), "
        f"about {run['estimate']['tokens']} tokens",
        highlight=False,
    )
    if "diff" not in run:
        return
    table = Table("", "added", "changed", "gone", "same")
    for kind in _KINDS:
        found = run["diff"][kind]
        table.add_row(kind, *(str(found[name]) for name in ("added", "changed", "gone", "same")))
    _out.print(table)
    for kind in _KINDS:
        for name, sign in (("added", "+"), ("changed", "~"), ("gone", "-")):
            for change in run["diff"][kind]["items"][name][:_SHOWN]:
                _out.print(f"{sign} {escape(_words(change))}", highlight=False)
    failed = run["progress"]["failed"]
    if failed:
        _err.print(
            f"[bold red]{failed} block(s) failed[/]: see `stratagate dead-letters`; the same "
            "command tries them again",
            highlight=False,
        )
    if "switched" in run:
        _out.print(
            f"live now; back with its switch to {run['switched']['previous_graph_version_id']}"
        )


def _words(change: Mapping[str, Any]) -> str:
    both = [part for part in (change["before"], change["after"]) if part]
    return f"{change['subject']}: {' → '.join(both)}"
