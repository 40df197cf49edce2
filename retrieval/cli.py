"""The read side's commands: `search` a namespace, `show` one thing by its id; over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shared.domain.tenancy import check_name
from shared.errors import InvalidInput, StrataGateError, Unavailable
from shared.http.serving import Host, Port, Processes, serve
from shared.logs import configure_logs_once
from shared.settings import get_settings

_TIMEOUT_S = 30.0
_LATIN_JOINT = re.compile(r"(?<=[\x20-\u024f])、(?=[\x20-\u024f])")
_out = Console()

AsJson = Annotated[bool, typer.Option("--json", help="Print the API's answer as it is.")]
Namespace = Annotated[str, typer.Argument(help="The namespace, such as project:demo.")]


def serve_retrieval(host: Host = "127.0.0.1", port: Port = 8081, processes: Processes = 1) -> None:
    """Serve the read side until stopped: search, context, the gate, tools and MCP."""
    serve("retrieval.app:create_app", host=host, port=port, processes=processes)


def search(
    namespace: Namespace,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    kind: Annotated[str, typer.Option(help="events, graph or raw.")] = "events",
    limit: Annotated[int, typer.Option(min=1, max=50)] = 6,
    as_json: AsJson = False,
) -> None:
    """Search events, the graph or the source messages."""
    if kind not in _TABLES:
        raise typer.BadParameter(f"use one of {', '.join(_TABLES)}", param_hint="--kind")
    path = f"/v1/retrieval/{namespace}/{kind}/search"
    reply = _ask("POST", path, {"query": query, "limit": limit})
    if as_json:
        typer.echo(json.dumps(reply, ensure_ascii=False, indent=2))
        return
    if reply["items"]:
        _out.print(_TABLES[kind](reply["items"]))
    else:
        _out.print(f"nothing found: [bold]{reply['empty_reason']}[/]. {reply['next_step'] or ''}")
    waiting = reply["pending"]
    if waiting["blocks"]:
        _out.print(f"{waiting['blocks']} block(s) pending, {waiting['oldest_age_s']} s old")


def show(
    namespace: Namespace,
    item: Annotated[str, typer.Argument(help="An id: evt_…, nod_…, blk_… or trn_…")],
    level: Annotated[
        int, typer.Option(help="Level of a block; it is anchored there.", min=0, max=5)
    ] = 5,
    as_json: AsJson = False,
) -> None:
    """Show an event, a graph node, a block, or what became of a turn."""
    base = f"/v1/retrieval/{namespace}"
    kind = item.partition("_")[0]
    requests: dict[str, tuple[str, str, Any]] = {
        "evt": ("GET", f"{base}/events/{item}", None),
        "nod": ("POST", f"{base}/graph/nodes/{item}/expand", {}),
        "blk": ("POST", f"{base}/blocks/{item}/expand", {"level": level}),
        "trn": ("GET", f"{base}/turns/{item}/receipt", None),
    }
    if kind not in requests:
        raise typer.BadParameter("give an id beginning with evt_, nod_, blk_ or trn_")
    reply = _ask(*requests[kind])
    if as_json or kind != "blk":
        _out.print_json(json.dumps(reply, ensure_ascii=False))
        return
    block = reply["block"]
    _out.print(block["header"], style="bold", highlight=False)
    _out.print(block["content"], highlight=False, markup=False)


def serve_mcp(
    namespace: Annotated[
        str | None,
        typer.Option(help="The namespace of every call; the tools then have no such argument."),
    ] = None,
    thread: Annotated[str | None, typer.Option(help="The conversation of every call.")] = None,
    api_url: Annotated[str | None, typer.Option(help="Where the API is.")] = None,
    api_key: Annotated[
        str | None, typer.Option(help="Better in STRATAGATE_API_KEY: arguments are seen by all.")
    ] = None,
) -> None:
    """Serve the memory tools to a desktop agent: MCP over standard input and output."""
    from retrieval.mcp.server import Fixed  # noqa: PLC0415 - the SDK takes a second to load
    from retrieval.mcp.stdio import serve_stdio  # noqa: PLC0415 - as above

    settings = get_settings()
    key = api_key or (settings.api_key.get_secret_value() if settings.api_key else None)
    if key is None or not key.isascii():
        raise InvalidInput("set STRATAGATE_API_KEY to a key that may read", code="no_api_key")
    fixed = Fixed(
        namespace=None if namespace is None else check_name(namespace, "--namespace"),
        thread_id=None if thread is None else check_name(thread, "--thread"),
    )
    configure_logs_once(settings.log_format, settings.log_level)
    serve_stdio(api_url or settings.api_url, key, fixed)


def serve_console() -> None:
    """Serve the memory console, where people see what is remembered and why."""
    from retrieval.console.app import run  # noqa: PLC0415 - the pages' library takes a second

    run()


def _events_table(items: list[dict[str, Any]]) -> Table:
    table = Table("event", "when", "status", "why it matched")
    for item in items:
        what = f"{escape(item['title'])}\n[dim]{item['event_id']}[/]"
        reason = escape(item["match_reason"] or "")
        table.add_row(what, item["source_time"], item["status"], reason)
    return table


def _graph_table(items: list[dict[str, Any]]) -> Table:
    table = Table("node", "type", "state", "why it matched")
    for item in items:
        what = f"{escape(item['name'])}\n[dim]{item['node_id']}[/]"
        state = escape(_in_latin_style(item["current_state"]))
        table.add_row(what, item["type"], state, escape(item["match_reason"] or ""))
    return table


def _in_latin_style(text: str) -> str:
    """Show lists of Latin text with commas; the API joins the items of every list by `、`."""
    return _LATIN_JOINT.sub(", ", text)


def _raw_table(items: list[dict[str, Any]]) -> Table:
    table = Table("message", "who", "when", "where")
    for item in items:
        where = "open tail" if item["in_open_tail"] else item["block_id"]
        who = escape(item["name"] or item["role"])
        table.add_row(escape(item["message"]["content"]), who, item["source_time"], where)
    return table


_TABLES: dict[str, Callable[[list[dict[str, Any]]], Table]] = {
    "events": _events_table,
    "graph": _graph_table,
    "raw": _raw_table,
}


def _ask(method: str, path: str, body: Any) -> Any:
    """Ask the API with the configured key; its problems become errors of StrataGate."""
    settings = get_settings()
    if settings.api_key is None:
        raise InvalidInput("set STRATAGATE_API_KEY to a key that may read", code="no_api_key")
    headers = {"Authorization": f"Bearer {settings.api_key.get_secret_value()}"}
    try:
        answer = httpx.request(
            method,
            settings.api_url.rstrip("/") + path,
            json=body,
            headers=headers,
            timeout=_TIMEOUT_S,
        )
    except httpx.TransportError as error:
        raise Unavailable(f"no answer from {settings.api_url}: {error}") from error
    if answer.is_success:
        return answer.json()
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    detail = problem.get("detail", f"the API answered {answer.status_code}")
    code = problem.get("code", "http_error")
    raise StrataGateError(detail, code=code)
