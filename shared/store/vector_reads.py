"""Reading vectors: in chunks to compare with a query, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, or_, select, text

from shared.store.database import QueueTx, ReadTx, send
from shared.store.vectors import VECTOR_TABLES, VectorKind, VectorModel, identity_of, rows_of

_CHUNK: Final = 20_000
"""Vectors read at a time, so that a large namespace is never in memory as a whole."""

_LISTED: Final = 100
"""How many refused texts are named."""

_CHUNKS: Final = {
    (kind, goes_on): f"""
        SELECT {kind.value}_id, vector FROM {kind.value}_vectors
        WHERE tenant_id = %(tenant_id)s AND namespace = %(namespace)s
          AND model = %(model)s AND dimension = %(dimension)s AND vector IS NOT NULL
          AND (%(threads)s::text[] IS NULL OR thread_id = ANY(%(threads)s))
          {f"AND {kind.value}_id < %(before)s" if goes_on else ""}
        ORDER BY {kind.value}_id DESC LIMIT %(size)s
        """  # noqa: S608 - joins names of the code; every value is a parameter
    for kind in VectorKind
    for goes_on in (False, True)
}
"""The first chunk, and one that goes on below an id: an OR of both would hide the id from the
index, and each chunk would then walk through all that came before it."""

_MODELS = text("SELECT model, dimension, vectors FROM stored_vector_models()")


@dataclass(frozen=True, slots=True)
class StoredModel:
    """How many vectors of one model are stored."""

    model: VectorModel
    vectors: int


def vectors_in_chunks(
    tx: ReadTx,
    namespace: str,
    kind: VectorKind,
    model: VectorModel,
    *,
    threads: Sequence[str] | None = None,
    limit: int,
) -> Iterator[tuple[list[str], bytes]]:
    """Yield ids with their packed vectors in a row, the newest first, at most `limit` in all."""
    values: dict[str, Any] = {
        "tenant_id": tx.tenant_id,
        "namespace": namespace,
        "model": model.name,
        "dimension": model.dimension,
        "threads": None if threads is None else list(threads),
    }
    while limit > 0:
        statement = _CHUNKS[kind, "before" in values]
        values["size"] = min(_CHUNK, limit)
        rows = send(tx.connection, statement, values, binary=True, named=False).fetchall()
        if not rows:
            return
        ids = [row[0] for row in rows]
        yield ids, b"".join([row[1] for row in rows])
        if len(rows) < values["size"]:
            return
        limit -= len(rows)
        values["before"] = ids[-1]


def has_other_models(tx: ReadTx, namespace: str, kind: VectorKind, model: VectorModel) -> bool:
    """Tell whether vectors of the namespace were made by another model."""
    table = VECTOR_TABLES[kind]
    other = or_(table.c.model != model.name, table.c.dimension != model.dimension)
    statement = select(table.c.tenant_id).where(*rows_of(tx, table, namespace), other).limit(1)
    return tx.connection.execute(statement).first() is not None


def count_vectors(tx: ReadTx, namespace: str) -> list[StoredModel]:
    """Return how many vectors of each model the namespace holds, the most first."""
    counts: dict[VectorModel, int] = {}
    for kind in VectorKind:
        table = VECTOR_TABLES[kind]
        rows = tx.connection.execute(
            select(table.c.model, table.c.dimension, func.count().label("n"))
            .where(*rows_of(tx, table, namespace))
            .group_by(table.c.model, table.c.dimension)
        )
        for row in rows:
            model = VectorModel(row.model, row.dimension)
            counts[model] = counts.get(model, 0) + row.n
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0].name))
    return [StoredModel(model, n) for model, n in ordered]


def stored_models(tx: QueueTx) -> list[StoredModel]:
    """Return the same for the whole installation, for those who look after it."""
    rows = tx.connection.execute(_MODELS)
    return [StoredModel(VectorModel(row.model, row.dimension), row.vectors) for row in rows]


def embedded_since(
    tx: ReadTx, namespace: str, model: VectorModel, *, since: datetime | None
) -> tuple[int, list[str]]:
    """Return how many vectors were made from a moment on, and whose texts the model refused."""
    made, refused = 0, []
    for kind in VectorKind:
        table = VECTOR_TABLES[kind]
        conditions = [*rows_of(tx, table, namespace), table.c.model == model.name]
        if since is not None:
            conditions.append(table.c.created_at >= since)
        identity = table.c[identity_of(kind)]
        counted = select(func.count()).where(*conditions, table.c.vector.is_not(None))
        made += tx.connection.execute(counted).scalar_one()
        without = select(identity).where(*conditions, table.c.vector.is_(None)).order_by(identity)
        refused += list(tx.connection.execute(without.limit(_LISTED)).scalars())
    return made, refused
