"""Load a labelled conversation through the API, and ask its questions there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from shared.domain.jobs import LIVE_STATES, JobState
from shared.errors import StrataGateError, Unavailable
from workers.evaluation.question_set import EVIDENCE_KEY, Conversation, Turn

_BATCH: Final = 100
_LIMIT: Final = 100
_BLOCK_LIMIT: Final = 50
_PAGE: Final = 200
_POLL_S: Final = 2.0
_LONGEST_STANDSTILL: Final = 90
"""After how many looks in a row without any change nothing is waited for any more."""

_TRIES: Final = 3
_THREAD: Final = "main"
ELSEWHERE: Final = "asking"
"""A thread without turns: what it is told comes from other conversations alone."""

BLOCK_TURNS: Final = 6


class Refused(StrataGateError):
    """The API answered with an error; its own words are kept."""

    code = "refused"


@dataclass(frozen=True, slots=True)
class Loading:
    """How conversations are stored: the start of their namespaces' names, and what is derived."""

    prefix: str
    events: bool = False
    vectors: bool = False

    @classmethod
    def named(cls, prefix: str, *, events: bool, provider: str | None) -> Loading:
        """Return a loading whose prefix says what is derived, so that no run disturbs another."""
        name = prefix + ("-events" if events else "") + (f"-{provider}" if provider else "")
        return cls(name, events=events, vectors=provider is not None)


@dataclass(frozen=True, slots=True)
class LoadedConversation:
    """A conversation as it is stored: its namespace, and the first turn of each message's block."""

    namespace: str
    block_of: Mapping[str, str]


@dataclass(slots=True)
class Asking:
    """A client that remembers how long each kind of request took, in milliseconds."""

    client: httpx.Client
    took: dict[str, list[float]] = field(default_factory=dict)

    def timed(self, kind: str, method: str, path: str, body: Any) -> dict[str, Any]:
        """Send one request; raises Refused or Unavailable."""
        begun = time.perf_counter()
        answer = call(self.client, method, path, body)
        self.took.setdefault(kind, []).append((time.perf_counter() - begun) * 1000)
        return answer


def load_conversation(
    client: httpx.Client, conversation: Conversation, loading: Loading
) -> LoadedConversation:
    """Store a conversation in a namespace of its own, sealed at each session's end.

    A second run stores nothing twice. Without `events` nothing is extracted, so that the
    messages alone are measured; without `vectors` nothing is embedded. Raises Refused or
    Unavailable.
    """
    namespace = f"{loading.prefix}:{conversation.id}"
    home = f"/v1/namespaces/{namespace}"
    stages = {"extract": loading.events, "project": loading.events, "embed": loading.vectors}
    call(client, "PUT", home, {"block_turn_size": BLOCK_TURNS, "stages": stages})
    for chunk in _chunks(conversation.turns):
        answer = call(client, "POST", f"{home}/turns/batch", [dict(t.body) for t in chunk])
        refused = [item for item in answer["items"] if item["status"] >= 400]
        if refused:
            raise Refused(f"a turn of {conversation.id} was refused: {refused[0]}")
        if chunk[-1].ends_session:
            key = f"seal:{chunk[-1].body['receipt_id']}"
            call(client, "POST", f"{home}/threads/{_THREAD}/seal", None, key=key)
    return LoadedConversation(namespace, block_starts(conversation))


def await_derived(client: httpx.Client, namespace: str) -> None:
    """Wait until no job of a namespace is under way.

    Unavailable where nothing moves for some three minutes, or where a job is dead.
    """
    last: dict[str, dict[str, int]] = {}
    unchanged = 0
    while True:
        jobs = jobs_of(client, namespace)
        dead = [kind for kind, states in jobs.items() if states.get(JobState.DEAD)]
        if dead:
            raise Unavailable(f"a job of {namespace} is dead: {dead[0]}")
        if not any(states.get(state) for states in jobs.values() for state in LIVE_STATES):
            return
        unchanged = unchanged + 1 if jobs == last else 0
        last = jobs
        if unchanged > _LONGEST_STANDSTILL:
            raise Unavailable(f"nothing is derived in {namespace}: is a worker running?")
        time.sleep(_POLL_S)


def ask_messages(asking: Asking, namespace: str, question: str) -> dict[str, Any]:
    """Return what raw search answers: `batch_id`, `items`, best first, and `degraded_lanes`."""
    path = f"/v1/retrieval/{namespace}/raw/search"
    return asking.timed("messages", "POST", path, {"query": question, "limit": _LIMIT})


def ask_blocks(asking: Asking, namespace: str, question: str) -> list[str]:
    """Return the first turns of the blocks found, best first."""
    path = f"/v1/retrieval/{namespace}/blocks/search"
    reply = asking.timed("blocks", "POST", path, {"query": question, "limit": _BLOCK_LIMIT})
    return [str(item["block"]["turn_range"][0]) for item in reply["items"]]


def ask_events(asking: Asking, namespace: str, question: str) -> list[dict[str, Any]]:
    """Return the events found, best first."""
    path = f"/v1/retrieval/{namespace}/events/search"
    reply = asking.timed("events", "POST", path, {"query": question, "limit": _LIMIT})
    return list(reply["items"])


def ask_context(
    asking: Asking,
    namespace: str,
    *,
    thread: str = _THREAD,
    query: str | None = None,
    **limits: int,
) -> dict[str, Any]:
    """Return what a thread's next turn should know; `limits` as the API takes them."""
    body = {"thread_id": thread, "query": query, **limits}
    return asking.timed("context", "POST", f"/v1/retrieval/{namespace}/context", body)


def ask_gate(asking: Asking, batch_id: str, question: str, refs: Sequence[str]) -> set[str]:
    """Judge a batch sufficient by some of its items; return the codes of the advisories."""
    body = {
        "verdict": "sufficient",
        "evidence_refs": list(refs),
        "next_strategy": "answer",
        "question": question,
    }
    reply = asking.timed("assessment", "POST", f"/v1/batches/{batch_id}/assessment", body)
    return {advisory["code"] for advisory in reply["advisories"]}


def sources_of_events(client: httpx.Client, namespace: str) -> dict[str, frozenset[str]]:
    """Return the messages that each event rests on, by the ids that evidence names."""
    found: dict[str, frozenset[str]] = {}
    path, cursor = f"/v1/retrieval/{namespace}/events", ""
    while True:
        page = call(client, "GET", f"{path}?limit={_PAGE}{cursor}", None)
        for card in page["items"]:
            event = call(client, "GET", f"{path}/{card['event_id']}", None)
            sources = event["source_messages"]
            found[card["event_id"]] = frozenset(m["metadata"][EVIDENCE_KEY] for m in sources)
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def set_decay(client: httpx.Client, namespace: str, decay: float) -> float:
    """Set a namespace's λ of block decay; return what it was."""
    home = f"/v1/namespaces/{namespace}"
    before = float(call(client, "GET", home, None)["policy"]["block_decay_lambda"])
    call(client, "PATCH", home, {"block_decay_lambda": decay})
    return before


def jobs_of(client: httpx.Client, namespace: str) -> dict[str, dict[str, int]]:
    """Return how many jobs of each kind the namespace has, by state."""
    counts = call(client, "GET", f"/v1/namespaces/{namespace}", None)["counts"]
    return {kind: dict(states) for kind, states in counts["jobs"].items()}


def pending_blocks(client: httpx.Client, namespace: str) -> int:
    """Return how many blocks wait for their summary or their events."""
    body = {"query": "anything", "limit": 1}
    path = f"/v1/retrieval/{namespace}/raw/search"
    return int(call(client, "POST", path, body)["pending"]["blocks"])


def vectors_of_api(client: httpx.Client) -> dict[str, Any] | None:
    """Return what the API says of its embedder, None where it has none."""
    found: dict[str, Any] | None = call(client, "GET", "/health/ready", None)["parts"].get(
        "vectors"
    )
    return found


def call(
    client: httpx.Client, method: str, path: str, body: Any, *, key: str | None = None
) -> dict[str, Any]:
    """Send one request and return its JSON; raises Refused or Unavailable.

    A request that got no answer is sent again, as each of them does its work only once.
    """
    headers = {"Idempotency-Key": key[:200]} if key else None

    def send() -> httpx.Response:
        return client.request(method, path, json=body, headers=headers)

    return _answer(client, send)


def block_starts(conversation: Conversation) -> dict[str, str]:
    """Return the first turn of each message's block, as sealing cuts them, by the message's id."""
    starts: dict[str, str] = {}
    start = 1
    for number, turn in enumerate(conversation.turns, start=1):
        for message in turn.messages:
            starts[message.id] = str(start)
        if turn.ends_session or number - start + 1 == BLOCK_TURNS:
            start = number + 1
    return starts


def _answer(client: httpx.Client, send: Callable[[], httpx.Response]) -> dict[str, Any]:
    for left in reversed(range(_TRIES)):
        try:
            response = send()
            break
        except httpx.TransportError as error:
            if left == 0:
                told = f"the API at {client.base_url} cannot be reached"
                raise Unavailable(told) from error
    if response.is_error:
        raise Refused(f"{response.status_code}: {response.text[:500]}")
    content: dict[str, Any] = response.json()
    return content


def _chunks(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    chunk: list[Turn] = []
    for turn in turns:
        chunk.append(turn)
        if turn.ends_session or len(chunk) == _BATCH:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
