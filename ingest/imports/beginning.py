"""Begin an import: keep its candidates, settle repetitions, enqueue a job for each other one."""

from __future__ import annotations

from typing import Any

from ingest.imports.reading import PreparedImport
from shared.domain.external_memory import Candidate
from shared.domain.external_memory_decide import Decision, settle_repeated
from shared.domain.external_memory_parse import ImportSource
from shared.domain.external_memory_progress import ImportStatus, StoredState
from shared.domain.external_memory_stored import candidate_to_json, decision_to_json
from shared.domain.jobs import FollowUp, JobKind
from shared.domain.redaction import redact
from shared.domain.tenancy import Caller
from shared.ids import Prefix, new_id
from shared.limits import check_new_work
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import ReadTx, WriteTx
from shared.store.events import hash_fingerprint, same_fingerprint
from shared.store.imports import add_candidates, insert_import, subject_of
from shared.store.jobs import enqueue
from shared.store.namespaces import ensure_namespace, policy_defaults
from shared.store.policies import policy_for
from shared.store.versions import live_derivation_version

_REDACT_SOURCE = "redact_source"


def begin_import(
    tx: WriteTx, caller: Caller, namespace: str, prepared: PreparedImport, *, settings: Settings
) -> dict[str, Any]:
    """Store an import and what is to be done about it; the namespace begins if it is new.

    TooMany (`quota_jobs`) while the tenant has as many jobs under way as it may.
    """
    check_new_work(tx, settings)
    ensure_namespace(tx, namespace)
    policy = policy_for(tx, namespace, defaults=policy_defaults(settings))
    candidates = prepared.candidates
    settled = () if candidates is None else _settle(tx, namespace, candidates)
    undecided = [position for position, one in enumerate(settled) if one is None]
    state = _state(prepared, undecided)
    import_id = new_id(Prefix.IMPORT)
    is_redacted = policy.redaction == _REDACT_SOURCE
    insert_import(
        tx,
        {
            "import_id": import_id,
            "namespace": namespace,
            "state": state.value,
            "source": _stored_source(prepared),
            "top_k": prepared.top_k,
            "content": redact(prepared.text) if is_redacted else prepared.text,
            "skipped": [{"index": one.index, "code": one.code} for one in prepared.skipped],
            "key_id": caller.key_id,
        },
    )
    add_candidates(tx, import_id, _rows(candidates or (), settled))
    parts: list[int | None] = [None] if candidates is None else list(undecided)
    for position in parts:
        _enqueue(tx, namespace, import_id, position, settings=settings)
    detail = {"candidates": len(settled), "undecided": len(undecided)}
    record(tx, AuditEntry("import_begun", caller.key_id, namespace, import_id, detail))
    return {
        "import_id": import_id,
        "namespace": namespace,
        # Exact repetitions alone wait for nobody.
        "status": (ImportStatus.READY if state is StoredState.DECIDED else state).value,
        "candidates": len(settled),
        "undecided": len(undecided),
        "skipped": [{"index": one.index, "code": one.code} for one in prepared.skipped],
    }


def _settle(
    tx: ReadTx, namespace: str, candidates: tuple[Candidate, ...]
) -> tuple[Decision | None, ...]:
    keys = [one.fingerprint for one in candidates]
    version = live_derivation_version(tx, namespace)
    known = same_fingerprint(tx, namespace, keys, version=version)
    return settle_repeated(candidates, {key: one.event_id for key, one in known.items()})


def _state(prepared: PreparedImport, undecided: list[int]) -> StoredState:
    if prepared.candidates is None:
        return StoredState.EXTRACTING
    return StoredState.PROCESSING if undecided else StoredState.DECIDED


def _stored_source(prepared: PreparedImport) -> str:
    is_mem0 = prepared.source is ImportSource.MEM0
    return (ImportSource.MEM0 if is_mem0 else ImportSource.STRATAGATE).value


def _rows(
    candidates: tuple[Candidate, ...], settled: tuple[Decision | None, ...]
) -> list[dict[str, Any]]:
    return [
        {
            "candidate": candidate_to_json(candidate),
            "fingerprint": hash_fingerprint(candidate.fingerprint),
            "decision": None if decision is None else decision_to_json(decision),
        }
        for candidate, decision in zip(candidates, settled, strict=True)
    ]


def _enqueue(
    tx: WriteTx, namespace: str, import_id: str, position: int | None, *, settings: Settings
) -> None:
    work = FollowUp(
        JobKind.IMPORT,
        subject_of(import_id, position),
        payload={"import_id": import_id, "position": position},
    )
    enqueue(tx, namespace, work, max_attempts=settings.max_attempts)
