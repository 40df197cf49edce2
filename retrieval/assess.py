"""Step 9 of the walk: assess a batch. What was said is normalised, never refused (D24).

Beside it, code tells what it notices; an advisory never overrules the assessment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.batches import check_open
from retrieval.cited import cited_items
from retrieval.progress import pending
from retrieval.raw_ranking import ranked_messages
from retrieval.reader import Reader
from shared.domain.advisories import Advisory, advise
from shared.domain.gate import Assessment, normalise_assessment
from shared.domain.ranking.unanswerable import Doubt, doubt_of
from shared.ids import Prefix, new_id
from shared.store.batches import (
    StoredAssessment,
    StoredBatch,
    earlier_batches,
    insert_assessment,
    set_batch_state,
)
from shared.store.database import ReadTx, WriteTx

_RECENT = 3
_LONGEST_QUESTION = 2_000


@dataclass(frozen=True, slots=True)
class RejectedRefCard:
    """A ref that does not count, and why."""

    input_index: int
    ref: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class AdvisoryCard:
    """Something code noticed about the cited evidence."""

    code: str
    message: str
    refs: list[str]
    terms: list[str]


@dataclass(frozen=True, slots=True)
class AssessmentReply:
    """The assessment as it counts."""

    assessment_id: str
    batch_id: str
    verdict: str
    evidence_refs: list[str]
    rejected_evidence_refs: list[RejectedRefCard]
    fit: str
    missing: str
    next_strategy: str
    question: str | None
    advisories: list[AdvisoryCard]


def assess_batch(
    tx: WriteTx, reader: Reader, batch: StoredBatch, *, raw: Mapping[str, Any]
) -> AssessmentReply:
    """Record an assessment of a locked batch; a later one of the same batch replaces it.

    Raises Conflict: `batch_recorded`, `batch_expired`.
    """
    check_open(batch, reader)
    assessment = normalise_assessment(raw, batch.refs)
    earlier = earlier_batches(tx, batch, limit=_RECENT)
    question = _question(raw.get("question"), batch, earlier)
    advisories = _advisories(tx, reader, batch, assessment, question=question, earlier=earlier)
    reply = _reply(batch, assessment, question, advisories)
    insert_assessment(
        tx,
        StoredAssessment(
            assessment_id=reply.assessment_id,
            batch_id=batch.batch_id,
            verdict=reply.verdict,
            evidence_refs=tuple(reply.evidence_refs),
            rejected_evidence_refs=tuple(_rejection(ref) for ref in reply.rejected_evidence_refs),
            fit=reply.fit,
            missing=reply.missing,
            next_strategy=reply.next_strategy,
            question=question,
            advisories=tuple(_advisory(card) for card in reply.advisories),
        ),
    )
    if batch.state == "open":
        set_batch_state(tx, batch.batch_id, "assessed")
    return reply


def _question(given: object, batch: StoredBatch, earlier: Sequence[StoredBatch]) -> str | None:
    """Return the assessment's question, else the thread's last search query, else None (D34)."""
    if isinstance(given, str) and given.strip():
        return given.strip()[:_LONGEST_QUESTION]
    queries = (one.query for one in (batch, *earlier))
    return next((query for query in queries if query and query.strip()), None)


def _advisories(
    tx: ReadTx,
    reader: Reader,
    batch: StoredBatch,
    assessment: Assessment,
    *,
    question: str | None,
    earlier: Sequence[StoredBatch],
) -> tuple[Advisory, ...]:
    return advise(
        question,
        cited_items(tx, reader, assessment.evidence_refs),
        pending_blocks=pending(tx, reader).blocks,
        batch_refs=batch.refs,
        recent_batches=[one.refs for one in earlier],
        doubt=_doubt(tx, reader, question),
    )


def _doubt(tx: ReadTx, reader: Reader, question: str | None) -> Doubt | None:
    """Return what all source messages say of a question, whatever the batch looked at."""
    if not question:
        return None
    ranking = ranked_messages(tx, reader, question)
    if not ranking.ranked:
        return None  # an empty search says so itself
    return doubt_of(question, ranking.asked, ranking.ranked)


def _reply(
    batch: StoredBatch,
    assessment: Assessment,
    question: str | None,
    advisories: Sequence[Advisory],
) -> AssessmentReply:
    return AssessmentReply(
        assessment_id=new_id(Prefix.ASSESSMENT),
        batch_id=batch.batch_id,
        verdict=assessment.verdict.value,
        evidence_refs=list(assessment.evidence_refs),
        rejected_evidence_refs=[
            RejectedRefCard(ref.input_index, ref.ref, ref.reason.value, ref.detail)
            for ref in assessment.rejected
        ],
        fit=assessment.fit,
        missing=assessment.missing,
        next_strategy=assessment.next_strategy.value,
        question=question,
        advisories=[
            AdvisoryCard(one.code.value, one.message, list(one.refs), list(one.terms))
            for one in advisories
        ],
    )


def _rejection(card: RejectedRefCard) -> dict[str, Any]:
    return {
        "input_index": card.input_index,
        "ref": card.ref,
        "reason": card.reason,
        "detail": card.detail,
    }


def _advisory(card: AdvisoryCard) -> dict[str, Any]:
    return {
        "code": card.code,
        "message": card.message,
        "refs": card.refs,
        "terms": card.terms,
    }
