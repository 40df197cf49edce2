"""Exports as rows, and their bundles in chunks: written once, read in order, then let go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, text, update

from shared.errors import NotFound
from shared.ids import Prefix, new_id
from shared.store.database import QueueTx, ReadTx, WriteTx
from shared.store.tables import export_chunks, exports

RUNNING = "running"
DONE = "done"


@dataclass(frozen=True, slots=True)
class Export:
    """An export: what it holds, and until when its bundle can be fetched."""

    export_id: str
    namespace: str
    state: str
    job_id: str | None
    key_id: str | None
    counts: Mapping[str, int]
    size_bytes: int
    sha256: str | None
    created_at: datetime
    finished_at: datetime | None
    expires_at: datetime | None


def begin_export(tx: WriteTx, namespace: str, *, key_id: str) -> Export:
    """Store an export that is to run."""
    row = tx.connection.execute(
        insert(exports)
        .values(
            tenant_id=tx.tenant_id,
            export_id=new_id(Prefix.EXPORT),
            namespace=namespace,
            key_id=key_id,
        )
        .returning(exports)
    ).one()
    return _export(row)


def set_export_job(tx: WriteTx, export_id: str, job_id: str) -> None:
    """Name the job that does the work."""
    tx.connection.execute(_update(tx, export_id).values(job_id=job_id))


def find_export(tx: ReadTx, export_id: str) -> Export:
    """Return one export; NotFound when this tenant has none of that id."""
    row = tx.connection.execute(
        select(exports).where(exports.c.tenant_id == tx.tenant_id, exports.c.export_id == export_id)
    ).one_or_none()
    if row is None:
        raise NotFound("no such export")
    return _export(row)


def add_chunk(tx: WriteTx, export_id: str, position: int, data: bytes) -> None:
    """Store the next piece of a bundle."""
    tx.connection.execute(
        insert(export_chunks).values(
            tenant_id=tx.tenant_id, export_id=export_id, position=position, data=data
        )
    )


def read_chunk(tx: ReadTx, export_id: str, position: int) -> bytes | None:
    """Return a piece of a bundle, or None behind the last."""
    data: bytes | None = tx.connection.execute(
        select(export_chunks.c.data).where(
            export_chunks.c.tenant_id == tx.tenant_id,
            export_chunks.c.export_id == export_id,
            export_chunks.c.position == position,
        )
    ).scalar()
    return None if data is None else bytes(data)


def finish_export(
    tx: WriteTx,
    export_id: str,
    *,
    counts: Mapping[str, int],
    size_bytes: int,
    sha256: str,
    keep_s: int,
) -> None:
    """End an export whose bundle is whole; it is kept `keep_s` seconds."""
    tx.connection.execute(
        _update(tx, export_id).values(
            state=DONE,
            counts=dict(counts),
            size_bytes=size_bytes,
            sha256=sha256,
            finished_at=func.now(),
            expires_at=func.now() + func.make_interval(0, 0, 0, 0, 0, 0, float(keep_s)),
        )
    )


def withdraw_bundles(tx: WriteTx, namespace: str) -> int:
    """Delete the bundles of a namespace, since something they hold is erased; return how many."""
    own = select(exports.c.export_id).where(
        exports.c.tenant_id == tx.tenant_id,
        exports.c.namespace == namespace,
        exports.c.state == DONE,
    )
    tx.connection.execute(
        delete(export_chunks).where(
            export_chunks.c.tenant_id == tx.tenant_id, export_chunks.c.export_id.in_(own)
        )
    )
    return tx.connection.execute(
        update(exports)
        .where(
            exports.c.tenant_id == tx.tenant_id,
            exports.c.namespace == namespace,
            exports.c.state == DONE,
        )
        .values(state="withdrawn")
    ).rowcount


def expire_exports(tx: QueueTx, *, most: int) -> int:
    """Delete the bundles, of any tenant, that were kept long enough; return how many."""
    expired: int = tx.connection.execute(
        text("SELECT expire_exports(:most)"), {"most": most}
    ).scalar_one()
    return expired


def _update(tx: WriteTx, export_id: str) -> Any:
    return update(exports).where(
        exports.c.tenant_id == tx.tenant_id, exports.c.export_id == export_id
    )


def _export(row: Row[Any]) -> Export:
    return Export(**{name: value for name, value in row._mapping.items() if name != "tenant_id"})
