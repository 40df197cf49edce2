"""Load a labelled conversation through the API, and ask its questions there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

from shared.domain.locomo import THREAD, LocomoTurn, locomo_turns
from shared.errors import StrataGateError, Unavailable

_BATCH: Final = 100
_LIMIT: Final = 100
BLOCK_TURNS: Final = 6


class Refused(StrataGateError):
    """The API answered with an error; its own words are kept."""

    code = "refused"


@dataclass(frozen=True, slots=True)
class LoadedConversation:
    """A conversation as it is stored: its namespace, and the first turn of each message's block."""

    namespace: str
    block_of: Mapping[str, str]


def load_conversation(
    client: httpx.Client, sample: Mapping[str, Any], *, prefix: str, events: bool, vectors: bool
) -> LoadedConversation:
    """Store a conversation in a namespace of its own, sealed at each session's end.

    A second run stores nothing twice. Without `events` nothing is extracted, so that the
    messages alone are measured; without `vectors` nothing is embedded. Raises Refused or
    Unavailable.
    """
    namespace = f"{prefix}:{sample['sample_id']}"
    home = f"/v1/namespaces/{namespace}"
    stages = {"extract": events, "project": False, "embed": vectors}
    call(client, "PUT", home, {"block_turn_size": BLOCK_TURNS, "stages": stages})
    for chunk in _chunks(locomo_turns(sample)):
        answer = call(client, "POST", f"{home}/turns/batch", [dict(t.body) for t in chunk])
        refused = [item for item in answer["items"] if item["status"] >= 400]
        if refused:
            raise Refused(f"a turn of {sample['sample_id']} was refused: {refused[0]}")
        if chunk[-1].ends_session:
            key = f"seal:{chunk[-1].body['receipt_id']}"
            call(client, "POST", f"{home}/threads/{THREAD}/seal", None, key=key)
    return LoadedConversation(namespace, _block_starts(sample))


def ask_messages(client: httpx.Client, namespace: str, question: str) -> dict[str, Any]:
    """Return what raw search answers: `items`, best first, and the lanes that were degraded."""
    return _search(client, f"/v1/retrieval/{namespace}/raw/search", question)


def ask_blocks(client: httpx.Client, namespace: str, question: str) -> list[str]:
    """Return the first turns of the blocks found, best first."""
    items = _search(client, f"/v1/retrieval/{namespace}/blocks/search", question)["items"]
    return [str(item["block"]["turn_range"][0]) for item in items]


def pending_blocks(client: httpx.Client, namespace: str) -> int:
    """Return how many blocks wait for their events."""
    body = {"query": "anything", "limit": 1}
    path = f"/v1/retrieval/{namespace}/raw/search"
    return int(call(client, "POST", path, body)["pending"]["blocks"])


def jobs_of_kind(client: httpx.Client, namespace: str, kind: str) -> dict[str, int]:
    """Return how many jobs of a kind the namespace has, by state."""
    counts = call(client, "GET", f"/v1/namespaces/{namespace}", None)["counts"]
    return dict(counts["jobs"].get(kind, {}))


def vectors_of_api(client: httpx.Client) -> dict[str, Any] | None:
    """Return what the API says of its embedder, None where it has none."""
    found: dict[str, Any] | None = call(client, "GET", "/health/ready", None)["parts"].get(
        "vectors"
    )
    return found


def call(
    client: httpx.Client, method: str, path: str, body: Any, *, key: str | None = None
) -> dict[str, Any]:
    """Send one request and return its JSON; raises Refused or Unavailable."""
    headers = {"Idempotency-Key": key[:200]} if key else None

    def send() -> httpx.Response:
        return client.request(method, path, json=body, headers=headers)

    return _answer(client, send)


def _answer(client: httpx.Client, send: Callable[[], httpx.Response]) -> dict[str, Any]:
    try:
        response = send()
    except httpx.TransportError as error:
        raise Unavailable(f"the API at {client.base_url} cannot be reached") from error
    if response.is_error:
        raise Refused(f"{response.status_code}: {response.text[:500]}")
    content: dict[str, Any] = response.json()
    return content


def _search(client: httpx.Client, path: str, question: str) -> dict[str, Any]:
    return call(client, "POST", path, {"query": question, "limit": _LIMIT})


def _chunks(turns: Iterator[LocomoTurn]) -> Iterator[Sequence[LocomoTurn]]:
    chunk: list[LocomoTurn] = []
    for turn in turns:
        chunk.append(turn)
        if turn.ends_session or len(chunk) == _BATCH:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _block_starts(sample: Mapping[str, Any]) -> dict[str, str]:
    """Return the first turn of each message's block, as sealing cuts them, by dia_id."""
    starts: dict[str, str] = {}
    start = 1
    for number, turn in enumerate(locomo_turns(sample), start=1):
        for message in turn.body["messages"]:
            starts[message["metadata"]["dia_id"]] = str(start)
        if turn.ends_session or number - start + 1 == BLOCK_TURNS:
            start = number + 1
    return starts
