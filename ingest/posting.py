"""Post loaded turns to the API in batches, and seal where a session ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from ingest.loaded import LoadedTurn
from shared.errors import StrataGateError, Unavailable

_BATCH = 100
_TIMEOUT_S = 60.0


class Refused(StrataGateError):
    """The API answered with an error; its own code and words are kept."""

    code = "refused"


@dataclass(slots=True)
class Report:
    """What loading did: how many turns of each kind, the blocks sealed, and what was refused."""

    stored: int = 0
    duplicates: int = 0
    ignored: int = 0
    sealed_blocks: int = 0
    problems: list[str] = field(default_factory=list)


def open_client(api_url: str, api_key: str) -> httpx.Client:
    """Return a client of the API with this key."""
    headers = {"Authorization": f"Bearer {api_key}"}
    return httpx.Client(base_url=api_url, headers=headers, timeout=_TIMEOUT_S)


def post_turns(
    client: httpx.Client,
    turns: Sequence[LoadedTurn],
    *,
    seal: bool,
    on_progress: Callable[[int], None],
) -> Report:
    """Post turns in order and report; `on_progress` hears how many more are done.

    With `seal` the thread is sealed at each session's end, once, however often it is loaded. Raises
    Refused when a request as a whole is refused, Unavailable when the API cannot be reached.
    """
    report = Report()
    for chunk in _chunks(turns, seal=seal):
        home = f"/v1/namespaces/{chunk[0].namespace}"
        answer = call(client, f"{home}/turns/batch", [dict(t.body) for t in chunk])
        _add(report, answer)
        if seal and chunk[-1].ends_session and answer["stored"] + answer["duplicates"]:
            report.sealed_blocks += _seal(client, home, chunk[-1])
        on_progress(len(chunk))
    return report


_MORE_TRIES = 2
_PAUSE_S = 1.0


def call(
    client: httpx.Client, path: str, body: Any, *, idempotency_key: str | None = None
) -> dict[str, Any]:
    """Post one request and return its JSON; raises Refused or Unavailable."""
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
    return answer_of(client, lambda: client.post(path, json=body, headers=headers))


def answer_of(client: httpx.Client, send: Callable[[], httpx.Response]) -> dict[str, Any]:
    """Send one request and return its JSON; raises Refused or Unavailable.

    A 503 stored nothing and passes by itself, so it is sent again twice, a second apart.
    """
    try:
        response = send()
        for _ in range(_MORE_TRIES):
            if response.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                break
            time.sleep(_PAUSE_S)
            response = send()
    except httpx.TransportError as error:
        raise Unavailable(
            f"the API at {client.base_url} cannot be reached: is the stack up?"
        ) from error
    if response.is_error:
        raise _refusal(response)
    content: dict[str, Any] = response.json()
    return content


def _seal(client: httpx.Client, home: str, last: LoadedTurn) -> int:
    # Keyed by the session's last turn: a second run must not seal what came after it.
    thread = last.thread_id or "unthreaded"
    key = f"seal:{last.body['receipt_id']}"[:200]
    sealed = call(client, f"{home}/threads/{thread}/seal", None, idempotency_key=key)
    return 0 if sealed["duplicate"] else len(sealed["sealed_block_ids"])


def _refusal(response: httpx.Response) -> Refused:
    try:
        problem = response.json()
    except ValueError:
        return Refused(f"the API answered {response.status_code}")
    return Refused(
        str(problem.get("detail", response.status_code)), code=str(problem.get("code", "refused"))
    )


def _chunks(turns: Sequence[LoadedTurn], *, seal: bool) -> Iterator[list[LoadedTurn]]:
    chunk: list[LoadedTurn] = []
    for turn in turns:
        if chunk and (chunk[0].namespace != turn.namespace or len(chunk) == _BATCH):
            yield chunk
            chunk = []
        chunk.append(turn)
        if seal and turn.ends_session:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _add(report: Report, answer: dict[str, Any]) -> None:
    report.stored += answer["stored"]
    report.duplicates += answer["duplicates"]
    report.ignored += answer["ignored"]
    for item in answer["items"]:
        if "error" in item:
            report.problems.append(f"turn {item['index'] + 1}: {item['error']['detail']}")
        elif not item["turn"]["duplicate"]:
            report.sealed_blocks += len(item["turn"].get("sealed_block_ids", ()))
