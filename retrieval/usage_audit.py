"""What answers rested on: answer turn, verdict, selected memories, source messages (D32).

The facts were copied when the evidence was used; turn and messages are looked up when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.message_cards import MessageCard, excerpt, message_card
from retrieval.outgoing import shown_text
from retrieval.reader import Reader
from retrieval.times import shown_in_zone
from shared.store.database import ReadTx
from shared.store.events import VISIBLE, StoredEvent, events_by_id
from shared.store.messages import StoredMessage, messages_by_id
from shared.store.usage_audit import AnswerTurn, StoredUse, UseFilter, uses_page

_RAW = "raw:"


@dataclass(frozen=True, slots=True)
class AnswerCard:
    """The answer in which evidence was used. `turn_id` is null until its turn is posted."""

    thread_id: str | None
    turn_receipt_id: str | None
    turn_id: str | None
    turn: int | None
    occurred_at: str | None


@dataclass(frozen=True, slots=True)
class VerdictCard:
    """The assessment that the use rested on; null fields where an empty use needed none."""

    verdict: str | None
    question: str | None
    fit: str
    missing: str
    next_strategy: str | None


@dataclass(frozen=True, slots=True)
class SelectedEvent:
    """A memory that was used. `status` is its standing now, null once it is gone.

    `title` is null for what was set aside since, but for readers who may curate.
    """

    event_id: str
    title: str | None
    status: str | None
    block_id: str | None
    is_reinforced: bool
    message_ids: list[str]


@dataclass(frozen=True, slots=True)
class UseCard:
    """One use of a batch's evidence, from the answer down to what was said."""

    use_receipt_id: str
    receipt_id: str
    recorded_at: str
    key_id: str | None
    answer: AnswerCard | None
    batch_id: str
    tool: str | None
    query: str | None
    thread_id: str | None
    assessment: VerdictCard
    evidence_refs: list[str]
    events: list[SelectedEvent]
    source_messages: list[MessageCard]


def usage_page(
    tx: ReadTx,
    reader: Reader,
    *,
    only: UseFilter,
    before: str | None,
    limit: int,
    sees_set_aside: bool,
) -> list[UseCard]:
    """Return uses, newest first, older than the id `before`."""
    found = uses_page(tx, reader.name, only=only, before=before, limit=limit)
    cited = {str(one["event_id"]) for use in found for one in _citations(use)}
    events = events_by_id(tx, cited)
    messages = messages_by_id(tx, {name for use in found for name in _message_ids(use)})
    return [_card(use, events, messages, sees_set_aside=sees_set_aside) for use in found]


def _card(
    use: StoredUse,
    events: Mapping[str, StoredEvent],
    messages: Mapping[str, StoredMessage],
    *,
    sees_set_aside: bool,
) -> UseCard:
    audit = use.audit
    return UseCard(
        use_receipt_id=use.use_receipt_id,
        receipt_id=use.receipt_id,
        recorded_at=shown_in_zone(use.created_at, "UTC"),
        key_id=audit.get("key_id"),
        answer=_answer(audit.get("answer"), use.turn),
        batch_id=use.batch_id,
        tool=audit.get("tool"),
        query=_shown(audit.get("query")),
        thread_id=audit.get("thread_id"),
        assessment=VerdictCard(
            verdict=audit.get("verdict"),
            question=_shown(audit.get("question")),
            fit=_shown(audit.get("fit")) or "",
            missing=_shown(audit.get("missing")) or "",
            next_strategy=audit.get("next_strategy"),
        ),
        evidence_refs=list(use.evidence_refs),
        events=[
            _event(one, use, events.get(str(one["event_id"])), sees_set_aside=sees_set_aside)
            for one in _citations(use)
        ],
        source_messages=[
            message_card(messages[name], content=excerpt(messages[name].message.content))
            for name in _message_ids(use)
            if name in messages
        ],
    )


def _answer(named: object, turn: AnswerTurn | None) -> AnswerCard | None:
    if not isinstance(named, Mapping) or not any(named.values()):
        return None
    return AnswerCard(
        thread_id=named.get("thread_id") or (turn.thread_id if turn else None),
        turn_receipt_id=named.get("turn_receipt_id"),
        turn_id=turn.turn_id if turn else None,
        turn=turn.sequence if turn else None,
        occurred_at=shown_in_zone(turn.occurred_at, turn.zone) if turn else None,
    )


def _event(
    cited: Mapping[str, Any], use: StoredUse, now: StoredEvent | None, *, sees_set_aside: bool
) -> SelectedEvent:
    is_set_aside = now is not None and now.status not in VISIBLE
    return SelectedEvent(
        event_id=cited["event_id"],
        title=None if is_set_aside and not sees_set_aside else _shown(cited.get("title")),
        status=None if now is None else now.status.value,
        block_id=cited.get("block_id"),
        is_reinforced=use.reinforced.get(cited["event_id"], False),
        message_ids=list(cited.get("message_ids") or ()),
    )


def _citations(use: StoredUse) -> Sequence[Mapping[str, Any]]:
    """Return the events as they were when they were used; an erasure may have left none."""
    found = use.audit.get("citations") or ()
    return [one for one in found if isinstance(one, Mapping) and one.get("event_id")]


def _message_ids(use: StoredUse) -> list[str]:
    """Return the messages a use rests on: those behind its events, and those cited directly."""
    behind = [str(name) for one in _citations(use) for name in one.get("message_ids") or ()]
    direct = [ref.removeprefix(_RAW) for ref in use.evidence_refs if ref.startswith(_RAW)]
    return list(dict.fromkeys((*behind, *direct)))


def _shown(text: object) -> str | None:
    return shown_text(text) if isinstance(text, str) else None
