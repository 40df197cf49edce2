"""Cost and decay curves: what a context costs as a conversation grows, and what it still holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import httpx

from shared.errors import Unavailable
from workers.evaluation.client import Refused, call, pending_blocks
from workers.evaluation.curves_presence import Kept, Size, by_age, kept_evidence, shares, size_of
from workers.evaluation.question_set import Conversation, Turn

THREAD: Final = "main"
_BATCH: Final = 100
_LONGEST_WAIT_S: Final = 1_800.0
_POLL_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Point:
    """A conversation at one time: its size, its blocks by level, what its context still holds."""

    turns: int
    size: Size
    levels: Mapping[str, int]
    kept: Sequence[Kept]


@dataclass(frozen=True, slots=True)
class Curve:
    """One conversation from its first point to its last turn."""

    conversation: str
    messages: int
    points: Sequence[Point]


def grow(
    client: httpx.Client,
    conversation: Conversation,
    *,
    namespace: str,
    points: int,
    block_turns: int | None = None,
    on_turns: Callable[[int], None] = lambda _: None,
) -> Curve:
    """Post a conversation to one thread and look at its context at evenly spaced turns.

    The namespace must be new. Blocks are summarised, nothing is extracted: what is measured is the
    thread's own decay. `block_turns` None takes the installation's. Raises Refused, or Unavailable
    when blocks are not ready within half an hour.
    """
    home = f"/v1/namespaces/{namespace}"
    policy: dict[str, Any] = {"stages": {"extract": False, "project": False, "embed": False}}
    if block_turns is not None:
        policy["block_turn_size"] = block_turns
    call(client, "PUT", home, policy)
    found: list[Point] = []
    done = 0
    for until in _stops(len(conversation.turns), points):
        for chunk in _chunks(conversation.turns[done:until]):
            _post(client, home, chunk)
            on_turns(len(chunk))
        done = until
        _await_ready(client, namespace)
        found.append(_point(client, conversation, namespace, turns=until))
    return Curve(conversation.id, len(conversation.messages), found)


def as_result(curves: Sequence[Curve]) -> dict[str, Any]:
    """Return the curves as a results file holds them (kind `curves`)."""
    return {
        "conversations": [
            {
                "id": curve.conversation,
                "messages": curve.messages,
                "points": [_told(point) for point in curve.points],
            }
            for curve in curves
        ],
        "by_age": list(by_age(k for curve in curves for point in curve.points for k in point.kept)),
    }


def _told(point: Point) -> dict[str, Any]:
    return {
        "turns": point.turns,
        "tokens": asdict(point.size) | {"context": point.size.context},
        "levels": dict(point.levels),
        "answerable": shares(point.kept),
    }


def _stops(turns: int, points: int) -> list[int]:
    """Return the turns to look at: evenly spaced, the last one among them."""
    return sorted({-(-turns * place // points) for place in range(1, points + 1)})


def _point(
    client: httpx.Client, conversation: Conversation, namespace: str, *, turns: int
) -> Point:
    body = {"thread_id": THREAD}
    context = call(client, "POST", f"/v1/retrieval/{namespace}/context", body)
    levels: dict[str, int] = {}
    for block in context["blocks"]:
        levels[f"L{block['level']}"] = levels.get(f"L{block['level']}", 0) + 1
    return Point(
        turns,
        size_of(context, conversation, turns=turns),
        dict(sorted(levels.items())),
        kept_evidence(context, conversation, turns=turns),
    )


def _post(client: httpx.Client, home: str, chunk: Sequence[Turn]) -> None:
    bodies = [{**turn.body, "thread_id": THREAD} for turn in chunk]
    answer = call(client, "POST", f"{home}/turns/batch", bodies)
    if answer["stored"] != len(chunk):
        bad = next((item for item in answer["items"] if item["status"] >= 400), answer)
        raise Refused(f"the namespace is not new, or a turn was refused: {bad}")


def _await_ready(client: httpx.Client, namespace: str) -> None:
    until = time.monotonic() + _LONGEST_WAIT_S
    while (waiting := pending_blocks(client, namespace)) > 0:
        if time.monotonic() > until:
            raise Unavailable(f"{waiting} blocks of {namespace} are pending: is a worker running?")
        time.sleep(_POLL_S)


def _chunks(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    for start in range(0, len(turns), _BATCH):
        yield turns[start : start + _BATCH]
