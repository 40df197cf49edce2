"""An import as its page shows it: candidates, what they resemble, what was decided, what came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from shared.domain.events import EventTime
from shared.domain.external_memory import Candidate
from shared.domain.external_memory_preview import import_summary, preview_time
from shared.domain.external_memory_progress import StoredState, import_status
from shared.domain.external_memory_stored import candidate_from_json
from shared.domain.redaction import redact
from shared.store.database import ReadTx
from shared.store.events import VISIBLE, StoredEvent, events_by_id, shown
from shared.store.imports import (
    CandidateRow,
    ImportJob,
    ImportRow,
    candidates_of,
    get_import,
    jobs_of_import,
)


def import_view(tx: ReadTx, import_id: str) -> dict[str, Any]:
    """Return an import with its candidates; NotFound for an unknown one."""
    row = get_import(tx, import_id)
    rows = candidates_of(tx, import_id)
    jobs = {one.position: one for one in jobs_of_import(tx, import_id)}
    named = {match["event_id"] for one in rows for match in one.matches}
    named |= {event_id for one in rows for event_id in _targets(one)}
    events = events_by_id(tx, named)
    waiting = [one for one in rows if _waits(one)]
    undecided = [one for one in rows if one.decision is None]
    open_parts = [None] if row.state is StoredState.EXTRACTING else [o.position for o in undecided]
    open_jobs = [jobs[part] for part in open_parts if part in jobs]
    status = import_status(
        row.state, open_jobs=[one.state for one in open_jobs], waits_for_person=bool(waiting)
    )
    return {
        "import_id": row.import_id,
        "namespace": row.namespace,
        "status": status.value,
        "source": row.source,
        "is_recovered": row.is_recovered,
        "top_k": row.top_k,
        "progress": {
            "total": len(rows),
            "decided": len(rows) - len(undecided),
            "awaiting_confirmation": len(waiting),
            "actions": dict(sorted(Counter(_actions(rows)).items())),
        },
        "candidates": [_candidate_view(one, jobs.get(one.position), events) for one in rows],
        "skipped": [dict(one) for one in row.skipped],
        "jobs": [_job_view(one) for one in open_jobs],
        "source_block": _source_view(row),
        "created_at": row.created_at.isoformat(),
        "committed_at": row.committed_at and row.committed_at.isoformat(),
        "undone_at": row.undone_at and row.undone_at.isoformat(),
    }


def _waits(row: CandidateRow) -> bool:
    is_open = row.decision is not None and row.answer is None
    return is_open and bool(row.decision and row.decision["requires_confirmation"])


def _actions(rows: Sequence[CandidateRow]) -> list[str]:
    return [str((one.answer or one.decision or {})["action"]) for one in rows if one.decision]


def _targets(row: CandidateRow) -> Sequence[str]:
    decision = row.answer or row.decision
    return () if decision is None else decision["existing_event_ids"]


def _candidate_view(
    row: CandidateRow, job: ImportJob | None, events: Mapping[str, StoredEvent]
) -> dict[str, Any]:
    candidate = candidate_from_json(row.candidate)
    return {
        "index": row.position,
        "is_erased": candidate is None,
        **({} if candidate is None else _words_of(candidate)),
        "matches": [_match_view(one, events) for one in row.matches],
        "decision": None if row.decision is None else _decision_view(row.decision),
        "requires_confirmation": _waits(row),
        "answer": None if row.answer is None else _decision_view(row.answer),
        "event_id": row.event_id,
        "job": None if job is None else _job_view(job),
    }


def _words_of(candidate: Candidate) -> dict[str, Any]:
    return {
        "title": candidate.title,
        "summary": candidate.summary,
        "narrative": candidate.narrative,
        "memory_kind": candidate.memory_kind,
        "category": candidate.category,
        "scope": candidate.scope,
        "criticality": candidate.criticality,
        "tags": list(candidate.tags),
        "quotes": list(candidate.quotes),
        "provenance": candidate.provenance,
        "time": _time_view(preview_time(candidate.temporal)),
    }


def _time_view(time: EventTime) -> dict[str, Any]:
    return {
        "mentioned_at": shown(time.mentioned_at),
        "happened_start": shown(time.happened_start),
        "happened_end": shown(time.happened_end),
        "precision": time.precision,
        "basis": time.basis,
        "status": time.status,
        "original_text": time.original_text,
    }


def _match_view(match: Mapping[str, Any], events: Mapping[str, StoredEvent]) -> dict[str, Any]:
    """Show a match as it is now; one that readers do not see any more has no words."""
    event = events.get(match["event_id"])
    is_visible = event is not None and event.status in VISIBLE
    return {
        "event_id": match["event_id"],
        "score": match["score"],
        "title": redact(event.title) if event is not None and is_visible else None,
        "summary": redact(event.summary) if event is not None and is_visible else None,
        "status": event.status.value if event is not None else None,
    }


def _decision_view(decision: Mapping[str, Any]) -> dict[str, Any]:
    merged = decision["merged"]
    return {
        "action": decision["action"],
        "confidence": decision["confidence"],
        "existing_event_ids": decision["existing_event_ids"],
        "reason": decision["reason"],
        "proposed": decision["proposed"],
        "rejected_event_ids": decision["rejected_event_ids"],
        "merged": merged and {"title": merged["title"], "summary": merged["summary"]},
    }


def _job_view(job: ImportJob) -> dict[str, Any]:
    return {"job_id": job.job_id, "state": job.state.value, "reason": job.reason}


def _source_view(row: ImportRow) -> dict[str, Any] | None:
    """Show the source block, which is on this page also when it is on no other any more."""
    if row.source_block_id is None:
        return None
    text = redact(row.content)
    summary = import_summary(text)
    return {
        "block_id": row.source_block_id,
        "thread_id": row.source_thread_id,
        "status": "undone" if row.state is StoredState.UNDONE else "ready",
        "title": summary.title,
        "tags": list(summary.tags),
        "text": text,
    }
