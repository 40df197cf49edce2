"""Begin and watch exports, and hand a bundle out piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shared.domain.jobs import FollowUp, JobKind
from shared.domain.tenancy import Caller
from shared.errors import Conflict, NotFound
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.exports import (
    DONE,
    Export,
    begin_export,
    find_export,
    read_chunk,
    set_export_job,
)
from shared.store.jobs import enqueue
from shared.store.namespaces import get_namespace, policy_defaults


def start_export(
    tx: WriteTx, caller: Caller, namespace: str, *, settings: Settings
) -> dict[str, Any]:
    """Begin an export; NotFound without such a namespace."""
    get_namespace(tx, namespace, defaults=policy_defaults(settings))
    export = begin_export(tx, namespace, key_id=caller.key_id)
    work = FollowUp(JobKind.EXPORT, export.export_id, payload={"export_id": export.export_id})
    job_id = enqueue(tx, namespace, work, max_attempts=settings.max_attempts)
    set_export_job(tx, export.export_id, job_id)
    _audit(tx, caller, "export_started", export)
    return {"export_id": export.export_id, "job_id": job_id, "state": export.state}


def one_export(tx: ReadTx, caller: Caller, export_id: str) -> Export:
    """Return an export; NotFound when there is none of that id within the key's reach."""
    export = find_export(tx, export_id)
    if not caller.reaches(export.namespace):
        raise NotFound("no such export")
    return export


def export_view(export: Export) -> dict[str, Any]:
    """Return an export as the API shows it."""
    path = f"/v1/exports/{export.export_id}/bundle" if export.state == DONE else None
    return {
        "export_id": export.export_id,
        "namespace": export.namespace,
        "state": export.state,
        "job_id": export.job_id,
        "counts": dict(export.counts),
        "size_bytes": export.size_bytes,
        "sha256": export.sha256,
        "bundle": path,
        "created_at": export.created_at.isoformat(),
        "finished_at": export.finished_at and export.finished_at.isoformat(),
        "expires_at": export.expires_at and export.expires_at.isoformat(),
    }


def open_bundle(
    database: Database, caller: Caller, export_id: str
) -> tuple[Export, Iterator[bytes]]:
    """Return an export and the pieces of its bundle, each read when it is sent.

    NotFound as in `one_export`; Conflict `export_not_ready` while it runs or after it has gone.
    """
    with database.write(caller.tenant_id) as tx:
        export = one_export(tx, caller, export_id)
        # With the state: an erasure that takes the bundle away now must not leave an empty answer.
        first = read_chunk(tx, export_id, 0) if export.state == DONE else None
        if first is None:
            standing = "gone" if export.state == DONE else export.state
            raise Conflict(
                f"the export is {standing}: there is no bundle to fetch",
                code="export_not_ready",
            )
        _audit(tx, caller, "export_fetched", export)
    return export, _pieces(database, caller.tenant_id, export_id, first)


def _pieces(database: Database, tenant_id: str, export_id: str, first: bytes) -> Iterator[bytes]:
    """Give the pieces; a bundle that goes meanwhile ends short, which its length tells."""
    data: bytes | None = first
    position = 0
    while data is not None:
        yield data
        position += 1
        with database.read(tenant_id) as tx:
            data = read_chunk(tx, export_id, position)


def _audit(tx: WriteTx, caller: Caller, action: str, export: Export) -> None:
    entry = AuditEntry(
        action, key_id=caller.key_id, namespace=export.namespace, subject=export.export_id
    )
    record(tx, entry)
