"""Undo a committed import: everything it changed is as before, and what it brought is hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.domain.external_memory_progress import StoredState
from shared.domain.jobs import LIVE_STATES, JobState
from shared.domain.tenancy import Caller
from shared.errors import Conflict, FieldError
from shared.store import imports
from shared.store.audit import AuditEntry, record
from shared.store.database import WriteTx
from shared.store.derivation_locks import await_projection, lock_extraction
from shared.store.event_writes import lock_events
from shared.store.graph_removal import remove_from_graph
from shared.store.import_undo import (
    Dependant,
    Touched,
    dependants_of,
    forget_block_in_versions,
    release_events,
    unlink_events,
)
from shared.store.imports import ImportRow, lock_import
from shared.store.jobs import cancel_by_hand, jobs_of
from shared.store.namespaces import lock_projection
from shared.store.search_index import DocumentKind, remove_documents
from shared.store.versions import live_derivation_version

_WORDS: Mapping[str, str] = {
    "supersedes": "this event supersedes an imported one",
    "conflicts_with": "this event contradicts an imported one",
    "said_again": "this message states an imported event once more",
    "used": "the answer of this receipt used an imported event",
}


def undo_import(tx: WriteTx, caller: Caller, import_id: str, *, now: datetime) -> dict[str, Any]:
    """Take a committed import back; a second time does nothing.

    The import, its source block and the audit stay, marked undone; no other page shows them.
    Raises Conflict: `import_not_committed`, or `import_has_dependants` naming what came later
    and rests on it.
    """
    row = lock_import(tx, import_id)
    if row.state is StoredState.UNDONE:
        return _answer(row, restored=[], was_undone=True)
    if row.state is not StoredState.COMMITTED:
        raise Conflict("there is nothing to undo yet", code="import_not_committed")
    restored = [] if row.source_block_id is None else _take_back(tx, row, now=now)
    imports.undo_import(tx, import_id)
    detail = {"block_id": row.source_block_id, "restored": restored}
    record(tx, AuditEntry("import_undone", caller.key_id, row.namespace, import_id, detail))
    return _answer(row, restored=restored, was_undone=False)


def _take_back(tx: WriteTx, row: ImportRow, *, now: datetime) -> list[str]:
    namespace, event_ids = row.namespace, list(row.effects["event_ids"])
    await_projection(tx, namespace)
    lock_extraction(tx, namespace, version=live_derivation_version(tx, namespace))
    touched = {
        event_id: Touched(datetime.fromisoformat(before), datetime.fromisoformat(after))
        for event_id, (before, after) in row.effects["touched"].items()
    }
    lock_events(tx, sorted({*event_ids, *touched}))
    _require_free(tx, row, event_ids)
    restored = release_events(tx, event_ids, touched)
    unlink_events(tx, event_ids)
    remove_from_graph(tx, namespace, row.import_id, event_ids, now=now)
    remove_documents(tx, namespace, DocumentKind.EVENT, event_ids)
    remove_documents(tx, namespace, DocumentKind.MESSAGE, [row.effects["message_id"]])
    forget_block_in_versions(tx, str(row.source_block_id))
    lock_projection(tx, namespace)
    _cancel_projection(tx, str(row.source_block_id))
    return restored


def _require_free(tx: WriteTx, row: ImportRow, event_ids: Sequence[str]) -> None:
    found = dependants_of(
        tx, event_ids, targets=row.effects["linked"], thread_id=str(row.source_thread_id)
    )
    if found:
        raise Conflict(
            f"{len(found)} later thing(s) rest on this import; nothing was changed",
            code="import_has_dependants",
            errors=tuple(_as_error(one) for one in found),
        )


def _as_error(found: Dependant) -> FieldError:
    return FieldError("", found.kind, f"{found.id}: {_WORDS[found.kind]}")


def _cancel_projection(tx: WriteTx, block_id: str) -> None:
    for job in jobs_of(tx, [block_id]):
        if JobState(job.state) in LIVE_STATES:
            cancel_by_hand(tx, job.job_id, reason="import_undone")


def _answer(row: ImportRow, *, restored: Sequence[str], was_undone: bool) -> dict[str, Any]:
    return {
        "import_id": row.import_id,
        "status": StoredState.UNDONE.value,
        "already_undone": was_undone,
        "removed_event_ids": list(row.effects.get("event_ids", ())),
        "restored_event_ids": list(restored),
        "source_block_id": row.source_block_id,
    }
