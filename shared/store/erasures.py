"""Erasures as rows: begun, watched, gone on with after a kill, and certified at their end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Row, func, insert, null, select, text, update

from shared.domain.erasure import SelectorKind
from shared.errors import NotFound
from shared.ids import Prefix, new_id
from shared.store.database import ReadTx, WriteTx
from shared.store.tables import erasures, tombstones

RUNNING = "running"
DONE = "done"


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure: what was selected while it runs, what went, and the certificate at its end."""

    erasure_id: str
    namespace: str
    kind: SelectorKind
    selector: str | None
    selector_hash: str
    state: str
    job_id: str | None
    key_id: str | None
    counts: Mapping[str, int]
    progress: Mapping[str, Any]
    certificate: Mapping[str, Any] | None
    created_at: datetime
    finished_at: datetime | None


def keyed_hash(tx: ReadTx, value: str) -> str | None:
    """Return the HMAC-SHA256 of a text under the tenant's erasure key, in hex.

    None before the tenant's first erasure, when there is no key.
    """
    found: str | None = tx.connection.execute(
        text("SELECT erasure_hash(:value)"), {"value": value}
    ).scalar()
    return found


def begin_erasure(
    tx: WriteTx, namespace: str, kind: SelectorKind, selector: str, *, key_id: str | None
) -> Erasure:
    """Store an erasure that is to run, making the tenant's key with the first one."""
    tx.connection.execute(text("SELECT ensure_erasure_key()"))
    row = tx.connection.execute(
        insert(erasures)
        .values(
            tenant_id=tx.tenant_id,
            erasure_id=new_id(Prefix.ERASURE),
            namespace=namespace,
            kind=kind.value,
            selector=selector,
            selector_hash=keyed_hash(tx, _selector_key(namespace, kind, selector)),
            key_id=key_id,
        )
        .returning(erasures)
    ).one()
    return _erasure(row)


def set_job(tx: WriteTx, erasure_id: str, job_id: str) -> None:
    """Name the job that does the work."""
    tx.connection.execute(_update(tx, erasure_id).values(job_id=job_id))


def find_erasure(tx: ReadTx, erasure_id: str, *, lock: bool = False) -> Erasure:
    """Return one erasure; NotFound when this tenant has none of that id."""
    statement = select(erasures).where(
        erasures.c.tenant_id == tx.tenant_id, erasures.c.erasure_id == erasure_id
    )
    row = tx.connection.execute(
        statement.with_for_update(key_share=True) if lock else statement
    ).one_or_none()
    if row is None:
        raise NotFound("no such erasure")
    return _erasure(row)


def same_selection(
    tx: ReadTx, namespace: str, kind: SelectorKind, selector: str, *, state: str | None = None
) -> Erasure | None:
    """Return the newest erasure of the same selection, or None."""
    hashed = keyed_hash(tx, _selector_key(namespace, kind, selector))
    statement = select(erasures).where(
        erasures.c.tenant_id == tx.tenant_id,
        erasures.c.namespace == namespace,
        erasures.c.selector_hash == hashed,
    )
    if state is not None:
        statement = statement.where(erasures.c.state == state)
    row = tx.connection.execute(statement.order_by(erasures.c.erasure_id.desc()).limit(1)).first()
    return None if row is None else _erasure(row)


def erasure_of(tx: ReadTx, erased_id: str) -> Erasure | None:
    """Return the erasure that took the thing of that id, or None when none did."""
    hashed = keyed_hash(tx, erased_id)
    row = tx.connection.execute(
        select(erasures)
        .join(
            tombstones,
            (tombstones.c.tenant_id == erasures.c.tenant_id)
            & (tombstones.c.erasure_id == erasures.c.erasure_id),
        )
        .where(
            tombstones.c.tenant_id == tx.tenant_id,
            tombstones.c.kind == erased_id.partition("_")[0],
            tombstones.c.hash == hashed,
        )
    ).one_or_none()
    return None if row is None else _erasure(row)


def save_progress(
    tx: WriteTx, erasure: Erasure, counts: Mapping[str, int], progress: Mapping[str, Any]
) -> None:
    """Add to what went, and note where to go on."""
    added = {
        name: erasure.counts.get(name, 0) + counts.get(name, 0)
        for name in (*erasure.counts, *counts)
    }
    tx.connection.execute(
        _update(tx, erasure.erasure_id).values(counts=added, progress=dict(progress))
    )


def finish_erasure(tx: WriteTx, erasure_id: str, certificate: Mapping[str, Any]) -> None:
    """End an erasure with its certificate, and forget what was selected and searched for."""
    tx.connection.execute(
        _update(tx, erasure_id).values(
            state=DONE,
            selector=null(),
            progress={},
            certificate=dict(certificate),
            finished_at=func.now(),
        )
    )


def end_others(tx: WriteTx, erasure: Erasure) -> None:
    """End the other erasures of a namespace that went as a whole: nothing is left to them."""
    tx.connection.execute(
        text(
            """
            UPDATE jobs SET state = 'cancelled', reason = 'source_erased', lease_token = NULL,
                lease_until = NULL, finalized_at = now()
            WHERE tenant_id = :tenant_id AND namespace = :namespace AND kind = 'erase'
              AND subject <> :erasure_id AND state IN ('available', 'running', 'retryable')
            """
        ),
        {
            "tenant_id": tx.tenant_id,
            "namespace": erasure.namespace,
            "erasure_id": erasure.erasure_id,
        },
    )
    tx.connection.execute(
        update(erasures)
        .where(
            erasures.c.tenant_id == tx.tenant_id,
            erasures.c.namespace == erasure.namespace,
            erasures.c.state == RUNNING,
            erasures.c.erasure_id != erasure.erasure_id,
        )
        .values(
            state=DONE,
            selector=null(),
            progress={},
            certificate={"ended_by": erasure.erasure_id},
            finished_at=func.now(),
        )
    )


def erase_sources(tx: WriteTx, erasure_id: str, work: Mapping[str, Any]) -> dict[str, int]:
    """Have the database erase; return how many rows of each table went. See migration 0013."""
    counts: dict[str, int] = tx.connection.execute(
        text("SELECT erase_sources(:erasure_id, CAST(:work AS jsonb))"),
        {"erasure_id": erasure_id, "work": _json(work)},
    ).scalar_one()
    return counts


def tombstones_of(tx: ReadTx, erasure_id: str) -> dict[str, dict[str, Any]]:
    """Return by kind how many tombstones an erasure left, and one digest over them in order."""
    rows = tx.connection.execute(
        text(
            """
            SELECT kind, count(*) AS number,
                encode(sha256(convert_to(string_agg(hash, '' ORDER BY hash), 'UTF8')), 'hex')
                    AS digest
            FROM tombstones WHERE tenant_id = :tenant_id AND erasure_id = :erasure_id
            GROUP BY kind
            """
        ),
        {"tenant_id": tx.tenant_id, "erasure_id": erasure_id},
    )
    return {row.kind: {"number": row.number, "digest": row.digest} for row in rows}


def is_erased(tx: ReadTx, kind: str, value: str, *, erasure_id: str | None = None) -> bool:
    """Tell whether an id (kind: its prefix) or a receipt was erased, by any or by one erasure."""
    statement = select(tombstones.c.hash).where(
        tombstones.c.tenant_id == tx.tenant_id,
        tombstones.c.kind == kind,
        tombstones.c.hash == keyed_hash(tx, value),
    )
    if erasure_id is not None:
        statement = statement.where(tombstones.c.erasure_id == erasure_id)
    return tx.connection.execute(statement).first() is not None


def receipt_key(namespace: str, operation: str, receipt_id: str) -> str:
    """Return the text whose hash marks an erased receipt; the database builds the same."""
    return "\x1f".join((namespace, operation, receipt_id))


def _selector_key(namespace: str, kind: SelectorKind, selector: str) -> str:
    return "\x1f".join((namespace, kind.value, selector))


def _json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value).decode()


def _update(tx: WriteTx, erasure_id: str) -> Any:
    return update(erasures).where(
        erasures.c.tenant_id == tx.tenant_id, erasures.c.erasure_id == erasure_id
    )


def _erasure(row: Row[Any]) -> Erasure:
    values = {name: value for name, value in row._mapping.items() if name != "tenant_id"}
    return Erasure(**values | {"kind": SelectorKind(row.kind)})
