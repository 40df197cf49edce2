"""Step 10 of the walk: record what an answer really used. The only thing that reinforces (D25).

Reinforcement, receipt and the batch's end are one transaction; a repeat gets the first answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from retrieval.batches import check_open
from retrieval.event_cards import weight_now
from retrieval.reader import Reader
from retrieval.schemas import UseRequest
from shared.domain.gate import UseCheck, Verdict, check_use
from shared.errors import Conflict, FieldError
from shared.ids import Prefix, new_id
from shared.store.batches import (
    StoredAssessment,
    StoredBatch,
    latest_assessment,
    set_batch_state,
)
from shared.store.database import WriteTx
from shared.store.erasures import is_erased, receipt_key
from shared.store.event_writes import lock_events, reinforce
from shared.store.events import VISIBLE, StoredEvent, events_by_id
from shared.store.use_receipts import UseReceipt, find_use_receipt, insert_use_receipt


@dataclass(frozen=True, slots=True)
class Reinforced:
    """One reinforced event: how often it was adopted now, and its weight before and after."""

    event_id: str
    n: int
    weight: float
    weight_before: float


@dataclass(frozen=True, slots=True)
class UseReply:
    """What a use recorded. `duplicate`: it was recorded before, this is the first answer.

    `erased`: what it told has been erased since, and nothing of it is known but that it was.
    """

    use_receipt_id: str
    receipt_id: str
    batch_id: str
    duplicate: bool
    evidence_refs: list[str]
    duplicate_evidence_refs: list[str]
    events: list[Reinforced]
    erased: bool = False


def record_use(
    tx: WriteTx, reader: Reader, batch: StoredBatch, *, asked: UseRequest, receipt_id: str
) -> UseReply:
    """Record a use of a locked batch and reinforce each event behind it once.

    Raises Conflict: `receipt_conflict`, `batch_recorded`, `batch_expired`, `not_assessed`,
    `not_adopted` (naming each ref); nothing is recorded then.
    """
    request_hash = _request_hash(batch, asked)
    known = find_use_receipt(tx, batch.namespace, receipt_id)
    if known is not None:
        return _repeated(known, request_hash)
    if is_erased(tx, "receipt", receipt_key(batch.namespace, "use", receipt_id)):
        return UseReply("", receipt_id, batch.batch_id, True, [], [], [], erased=True)
    check_open(batch, reader)
    assessment = latest_assessment(tx, batch.batch_id)
    check = _checked(batch, assessment, asked.evidence_refs)
    events = _events_behind(tx, batch, check.refs)
    reply = _reinforced(tx, reader, batch, check, events=events, receipt_id=receipt_id)
    receipt = UseReceipt(
        use_receipt_id=reply.use_receipt_id,
        namespace=batch.namespace,
        receipt_id=receipt_id,
        request_hash=request_hash,
        batch_id=batch.batch_id,
        assessment_id=assessment.assessment_id if assessment else None,
        evidence_refs=check.refs,
        answer=orjson.loads(orjson.dumps(reply)),
        audit=_audit(reader, batch, assessment, asked=asked, events=events.values()),
    )
    counted = {event.event_id for event in reply.events}
    reinforced = {name: name in counted for name in events}
    if not insert_use_receipt(tx, receipt, reinforced=reinforced):
        # Another request took the id after we looked; its content is not this one's.
        raise _receipt_conflict()
    set_batch_state(tx, batch.batch_id, "recorded")
    return reply


def _repeated(known: UseReceipt, request_hash: str) -> UseReply:
    if known.request_hash != request_hash:
        raise _receipt_conflict()
    answer = dict(known.answer)
    events = [Reinforced(**event) for event in answer.pop("events")]
    return UseReply(**(answer | {"duplicate": True}), events=events)


def _receipt_conflict() -> Conflict:
    return Conflict(
        "this receipt_id was used for another request; nothing was recorded",
        code="receipt_conflict",
    )


def _checked(
    batch: StoredBatch, assessment: StoredAssessment | None, refs: Sequence[str]
) -> UseCheck:
    """Check refs against the batch and its latest assessment; an empty list is always in order."""
    if refs and assessment is None:
        raise Conflict(
            "assess this batch as sufficient before using its evidence", code="not_assessed"
        )
    adopted: tuple[str, ...] = ()
    if assessment is not None and assessment.verdict == Verdict.SUFFICIENT.value:
        adopted = assessment.evidence_refs
    check = check_use(refs, batch_refs=batch.refs, adopted_refs=adopted)
    if check.issues:
        raise Conflict(
            f"{len(check.issues)} evidence ref(s) cannot be used; nothing was recorded",
            code="not_adopted",
            errors=tuple(
                FieldError(f"/evidence_refs/{issue.input_index}", issue.reason.value, issue.detail)
                for issue in check.issues
            ),
        )
    return check


def _events_behind(tx: WriteTx, batch: StoredBatch, refs: Iterable[str]) -> dict[str, StoredEvent]:
    """Return the events a use of these refs counts, locked, each once."""
    targets = {item.evidence_ref: item.event_ids for item in batch.items}
    wanted = dict.fromkeys(event_id for ref in refs for event_id in targets[ref])
    if not wanted:
        return {}
    lock_events(tx, wanted)
    return events_by_id(tx, wanted)


def _reinforced(
    tx: WriteTx,
    reader: Reader,
    batch: StoredBatch,
    check: UseCheck,
    *,
    events: Mapping[str, StoredEvent],
    receipt_id: str,
) -> UseReply:
    counted = [name for name, event in events.items() if event.status in VISIBLE]
    reinforce(tx, counted, turn=reader.namespace.turn_count)
    after = events_by_id(tx, counted)
    return UseReply(
        use_receipt_id=new_id(Prefix.RECEIPT),
        receipt_id=receipt_id,
        batch_id=batch.batch_id,
        duplicate=False,
        evidence_refs=list(check.refs),
        duplicate_evidence_refs=list(check.duplicates),
        events=[
            Reinforced(
                event_id=name,
                n=after[name].mention_count,
                weight=round(weight_now(reader, after[name]), 6),
                weight_before=round(weight_now(reader, events[name]), 6),
            )
            for name in counted
        ],
    )


def _audit(
    reader: Reader,
    batch: StoredBatch,
    assessment: StoredAssessment | None,
    *,
    asked: UseRequest,
    events: Iterable[StoredEvent],
) -> dict[str, Any]:
    """Return the facts of a use, copied so that no expiry can take them (D32)."""
    answer = asked.answer.model_dump() if asked.answer else {}
    return {
        "key_id": reader.key_id,
        "thread_id": batch.thread_id,
        "answer": answer,
        "tool": batch.tool,
        "query": batch.query,
        "question": assessment.question if assessment else None,
        "verdict": assessment.verdict if assessment else None,
        "fit": assessment.fit if assessment else "",
        "missing": assessment.missing if assessment else "",
        "next_strategy": assessment.next_strategy if assessment else None,
        "citations": [
            {
                "event_id": event.event_id,
                "title": event.title,
                "block_id": event.block_id,
                "message_ids": list(event.source_message_ids),
            }
            for event in events
        ],
    }


def _request_hash(batch: StoredBatch, asked: UseRequest) -> str:
    content = {
        "batch_id": batch.batch_id,
        "evidence_refs": asked.evidence_refs,
        "answer": asked.answer.model_dump() if asked.answer else None,
    }
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
