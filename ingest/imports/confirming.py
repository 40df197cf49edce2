"""Confirm an import: answers, a look at its own targets, and one atomic commit (D26, D47)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ingest.imports.writing import Addition, Written, write_import
from shared.domain.external_memory import Candidate
from shared.domain.external_memory_answers import Answer, final_decisions
from shared.domain.external_memory_decide import Decision, ImportAction, repeated
from shared.domain.external_memory_progress import StoredState
from shared.domain.external_memory_stored import (
    candidate_from_json,
    decision_from_json,
    decision_to_json,
)
from shared.domain.tenancy import Caller
from shared.errors import Conflict, FieldError
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import ReadTx, WriteTx
from shared.store.derivation_locks import lock_extraction
from shared.store.event_writes import lock_events
from shared.store.events import VISIBLE, StoredEvent, events_by_id, same_fingerprint
from shared.store.imports import (
    CandidateRow,
    ImportRow,
    candidates_of,
    commit_import,
    events_in,
    lock_import,
    save_answer,
)
from shared.store.versions import live_derivation_version


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What a person says to an import."""

    answers: tuple[Answer, ...]
    ignore_unanswered: bool


@dataclass(frozen=True, slots=True)
class _Final:
    """One candidate with its final decision."""

    row: CandidateRow
    candidate: Candidate
    decision: Decision


def confirm_import(
    tx: WriteTx,
    caller: Caller,
    import_id: str,
    said: Confirmation,
    *,
    now: datetime,
    settings: Settings,
) -> dict[str, Any]:
    """Commit an import whole, or nothing of it.

    Raises Conflict: `import_not_ready`, `import_committed`, `import_undone`,
    `confirmation_required` naming what is unanswered, or `stale_targets` naming the candidates
    whose targets changed since they were shown; InvalidInput for answers that cannot hold.
    """
    row = lock_import(tx, import_id)
    _require_decided(row)
    version = live_derivation_version(tx, row.namespace)
    lock_extraction(tx, row.namespace, version=version)
    finals = _finals(candidates_of(tx, import_id), said)
    targets = _locked_targets(tx, finals, version=version)
    _require_fresh(finals, targets)
    finals = _without_repetitions(tx, row.namespace, finals, version=version)
    additions = [
        Addition(one.row.position, _merged(one), one.decision)
        for one in finals
        if one.decision.adds_event
    ]
    written = write_import(
        tx, row, additions, targets=targets, version=version, now=now, settings=settings
    )
    _keep(tx, caller, row, finals, written)
    return _answer(row, finals, written)


def _require_decided(row: ImportRow) -> None:
    match row.state:
        case StoredState.DECIDED:
            return
        case StoredState.COMMITTED:
            raise Conflict("this import is committed already", code="import_committed")
        case StoredState.UNDONE:
            raise Conflict("this import was undone; import it anew", code="import_undone")
        case _:
            raise Conflict(
                "candidates of this import are still undecided; see its page",
                code="import_not_ready",
            )


def _finals(rows: Sequence[CandidateRow], said: Confirmation) -> list[_Final]:
    decisions = final_decisions(
        [decision_from_json(one.decision or {}) for one in rows],
        said.answers,
        shown=[[match["event_id"] for match in one.matches] for one in rows],
        ignore_unanswered=said.ignore_unanswered,
    )
    finals = []
    for row, decision in zip(rows, decisions, strict=True):
        candidate = candidate_from_json(row.candidate)
        if candidate is None:
            raise Conflict("a candidate of this import was erased", code="import_erased")
        finals.append(_Final(row, candidate, decision))
    return finals


def _locked_targets(
    tx: WriteTx, finals: Sequence[_Final], *, version: int
) -> dict[str, StoredEvent]:
    wanted = sorted({event_id for one in finals for event_id in _links_to(one.decision)})
    lock_events(tx, wanted)
    return events_by_id(tx, events_in(tx, wanted, version=version))


def _links_to(decision: Decision) -> tuple[str, ...]:
    return (*decision.supersedes, *decision.conflicts_with)


def _require_fresh(finals: Sequence[_Final], targets: Mapping[str, StoredEvent]) -> None:
    """Look at this import's own targets alone: other changes of the namespace do not matter."""
    stale = [
        FieldError(
            f"/candidates/{one.row.position}",
            "stale_target",
            f"{event_id} changed since it was shown: answer this candidate otherwise",
        )
        for one in finals
        for event_id in _links_to(one.decision)
        if _is_stale(one.row, targets.get(event_id))
    ]
    if stale:
        raise Conflict(
            "events that this import is about have changed since; nothing was written",
            code="stale_targets",
            errors=tuple(stale),
        )


def _is_stale(row: CandidateRow, event: StoredEvent | None) -> bool:
    if event is None or event.status not in VISIBLE:
        return True
    shown = next(one for one in row.matches if one["event_id"] == event.event_id)
    return (event.status.value, event.superseded_by) != (shown["status"], shown["superseded_by"])


def _without_repetitions(
    tx: ReadTx, namespace: str, finals: Sequence[_Final], *, version: int
) -> list[_Final]:
    """Ignore what is remembered word for word by now, so that the same file twice adds nothing."""
    keys = [_merged(one).fingerprint for one in finals if one.decision.adds_event]
    known = {
        key: event.event_id
        for key, event in same_fingerprint(tx, namespace, keys, version=version).items()
    }
    kept: list[_Final] = []
    for one in finals:
        key = _merged(one).fingerprint
        if one.decision.adds_event and key in known:
            kept.append(replace(one, decision=repeated(known[key])))
            continue
        if one.decision.adds_event:
            known[key] = ""
        kept.append(one)
    return kept


def _merged(one: _Final) -> Candidate:
    """Return the words that are written: the merged ones where there are any."""
    merged = one.decision.merged
    if merged is None:
        return one.candidate
    return replace(
        one.candidate,
        title=merged.title,
        summary=merged.summary,
        narrative=merged.narrative or one.candidate.narrative,
        tags=merged.tags or one.candidate.tags,
    )


def _keep(
    tx: WriteTx, caller: Caller, row: ImportRow, finals: Sequence[_Final], written: Written
) -> None:
    for one in finals:
        save_answer(
            tx,
            row.import_id,
            one.row.position,
            answer=decision_to_json(one.decision),
            event_id=written.events.get(one.row.position),
        )
    commit_import(
        tx,
        row.import_id,
        source_block_id=written.block_id,
        source_thread_id=written.thread_id,
        effects=written.effects(),
    )
    detail = {"actions": _counts(finals), "block_id": written.block_id}
    record(tx, AuditEntry("import_committed", caller.key_id, row.namespace, row.import_id, detail))


def _counts(finals: Sequence[_Final]) -> dict[str, int]:
    actions = [one.decision.action for one in finals]
    return {action.value: actions.count(action) for action in ImportAction}


def _answer(row: ImportRow, finals: Sequence[_Final], written: Written) -> dict[str, Any]:
    return {
        "import_id": row.import_id,
        "status": StoredState.COMMITTED.value,
        "actions": _counts(finals),
        "event_ids": list(written.events.values()),
        "superseded_event_ids": sorted(written.touched),
        "refused_links": list(written.refused),
        "source_block_id": written.block_id,
        "job_id": written.job_id,
    }
