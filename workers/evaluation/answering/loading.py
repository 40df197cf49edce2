"""Load conversations for the mode `memory`: a namespace for each system seed and conversation.

What one seed's answers reinforce must not change what the next one finds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

import httpx

from shared.errors import Unavailable
from workers.evaluation.answering.memory_tools import MemoryTools
from workers.evaluation.client import BLOCK_TURNS, Refused, call, pending_blocks
from workers.evaluation.question_set import Conversation, Turn

_BATCH: Final = 100
_LONGEST_WAIT_S: Final = 1_800.0
_POLL_S: Final = 2.0


def loaded_tools(
    client: httpx.Client,
    conversations: Sequence[Conversation],
    *,
    prefix: str,
    seeds: Sequence[int],
    shown: int,
    characters: int,
) -> dict[tuple[int, str], MemoryTools]:
    """Store each conversation once a seed, wait for its events, and return the tools of each.

    A second run stores nothing twice. Raises Refused, or Unavailable, also when the events are
    not there within half an hour.
    """
    tools = {}
    for seed in seeds:
        for conversation in conversations:
            namespace = f"{prefix}-answers-{seed}:{conversation.id}"
            _load(client, conversation, namespace)
            tools[seed, conversation.id] = MemoryTools(client, namespace, shown, characters)
    for one in tools.values():
        _await_events(client, one.namespace)
    return tools


def _load(client: httpx.Client, conversation: Conversation, namespace: str) -> None:
    home = f"/v1/namespaces/{namespace}"
    stages = {"extract": True, "project": False, "embed": False}
    call(client, "PUT", home, {"block_turn_size": BLOCK_TURNS, "stages": stages})
    for chunk in _chunks(conversation.turns):
        answer = call(client, "POST", f"{home}/turns/batch", [dict(t.body) for t in chunk])
        refused = [item for item in answer["items"] if item["status"] >= 400]
        if refused:
            raise Refused(f"a turn of {conversation.id} was refused: {refused[0]}")
        if chunk[-1].ends_session:
            body = chunk[-1].body
            key = f"seal:{body['receipt_id']}"
            call(client, "POST", f"{home}/threads/{body['thread_id']}/seal", None, key=key)


def _chunks(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    chunk: list[Turn] = []
    for turn in turns:
        chunk.append(turn)
        if turn.ends_session or len(chunk) == _BATCH:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _await_events(client: httpx.Client, namespace: str) -> None:
    until = time.monotonic() + _LONGEST_WAIT_S
    while (waiting := pending_blocks(client, namespace)) > 0:
        if time.monotonic() > until:
            raise Unavailable(f"{waiting} blocks of {namespace} are pending")
        time.sleep(_POLL_S)
