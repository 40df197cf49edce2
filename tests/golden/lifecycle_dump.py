"""How the golden file writes blocks, jobs, events and decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.domain.blocks import render_summary
from shared.domain.decay import label_of
from shared.domain.external_memory_decide import Decision
from shared.domain.weights import FLOORS
from tests.golden.lifecycle_events import Stored
from tests.golden.lifecycle_replay import FAILED, Block, Namespace, Work


def block_json(block: Block) -> dict[str, Any]:
    return {
        "id": block.id,
        "threadId": block.thread,
        "sequence": block.sequence,
        "turns": [block.first_turn, block.last_turn],
        "status": status_of(block),
        "anchorLevel": block.anchor_level,
        "anchorPosition": block.anchor_position,
        "liftedBy": block.lifted_by,
        "messages": [message.id for message in block.messages],
        "createdAt": block.created_at.isoformat(),
    }


def status_of(block: Block) -> str:
    return "ready" if block.is_ready else "pending"


def context_json(space: Namespace, threads: Sequence[str | None]) -> list[list[Any]]:
    return [
        [block.id, *space.standing(block)]
        for block in space.blocks
        if block.thread in threads and block.is_ready
    ]


def view_json(space: Namespace, block: Block) -> dict[str, Any]:
    age, level = space.standing(block)
    content = render_summary(block.head, level) if block.head and level < 3 else None
    return {"level": level, "age": age, "label": label_of(level), "content": content}


def head_json(block: Block) -> dict[str, Any]:
    assert block.head is not None
    return {
        "id": block.id,
        "threadId": block.thread,
        "sequence": block.sequence,
        "l0Title": block.head.title,
        "l0Tags": list(block.head.tags),
        "l1Summary": block.head.summary,
        "l2Keypoints": list(block.head.keypoints),
        "processingStatus": status_of(block),
    }


def job_json(work: Work) -> dict[str, Any]:
    status = "failed" if work.state in FAILED else work.state.value
    return {
        "status": status,
        "attempts": work.attempt,
        "lastError": work.error,
        "nextRetryAt": when(work.next_at),
    }


def events_json(space: Namespace) -> list[dict[str, Any]]:
    return [event_json(stored) for stored in space.events.by_id.values()]


def event_json(stored: Stored) -> dict[str, Any]:
    draft, state = stored.draft, stored.state
    links = {"supersedesEventIds": stored.supersedes, "conflictsWithEventIds": stored.conflicts}
    time = {"mentionedAt": when(draft.time.mentioned_at), "eventType": draft.event_type.value}
    return {
        "id": state.id,
        "title": draft.title,
        "status": state.status.value,
        "supersededBy": state.superseded_by,
        "sourceBlockId": stored.block_id,
        "sourceMessageIds": list(draft.source_message_ids),
        "formedTurn": stored.formed_turn,
        "temporal": {
            **{key: value for key, value in time.items() if value is not None},
            **{key: list(ids) for key, ids in links.items() if ids},
        },
        "criticality": draft.criticality.value,
        "scope": draft.scope.value,
        "weight": weight_json(stored),
    }


def weight_json(stored: Stored) -> dict[str, Any]:
    """Write a weight; nothing is ever noted at a search (D23), no cap is stored (D14)."""
    return {
        "mentionCount": stored.mentions,
        "lastAdoptedTurn": stored.last_adopted_turn,
        "lastRetrievedAt": None,
        "pinned": stored.is_pinned,
        "floorWeight": FLOORS[stored.draft.criticality],
        "forcedCap": None,
    }


def receipt_json(space: Namespace, receipt: str) -> dict[str, Any]:
    ids, _ = space.events.receipts[receipt]
    at = when(space.now)
    return {"id": receipt, "eventIds": list(ids), "elementIds": [], "createdAt": at}


def decision_json(decision: Decision) -> dict[str, Any]:
    return {
        "action": decision.action.value,
        "existingEventIds": list(decision.existing_event_ids),
        "confidence": decision.confidence,
        "requiresConfirmation": decision.requires_confirmation,
        "reason": decision.reason,
    }


def asked_json(reply: Mapping[str, Any], matches: Sequence[str]) -> dict[str, Any]:
    """Write what the decider said, with OLD for the event it was shown."""
    named = reply.get("existingEventIds")
    if named is None:
        return dict(reply)
    return {**reply, "existingEventIds": ["OLD" if one in matches else one for one in named]}


def error_or_none(result: Any) -> Any:
    return result if isinstance(result, dict) and "error" in result else None


def when(instant: datetime | None) -> str | None:
    return instant.isoformat() if instant else None
