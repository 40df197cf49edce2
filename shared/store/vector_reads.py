"""Reading vectors: in chunks to compare with a query, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, literal_column, or_, select, text
from sqlalchemy.dialects.postgresql import aggregate_order_by

from shared.store.database import QueueTx, ReadTx
from shared.store.vectors import VECTOR_TABLES, VectorKind, VectorModel, identity_of, rows_of

_CHUNK: Final = 20_000
"""Vectors read at a time, so that a large namespace is never in memory as a whole."""

_LISTED: Final = 100
"""How many refused texts are named."""

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
    table, identity = VECTOR_TABLES[kind], VECTOR_TABLES[kind].c[identity_of(kind)]
    before: str | None = None
    left = limit
    while left > 0:
        conditions = [
            *rows_of(tx, table, namespace),
            table.c.model == model.name,
            table.c.dimension == model.dimension,
            table.c.vector.is_not(None),
        ]
        if threads is not None:
            conditions.append(table.c.thread_id.in_(threads))
        if before is not None:
            conditions.append(identity < before)
        size = min(_CHUNK, left)
        part = (
            select(identity.label("id"), table.c.vector)
            .where(*conditions)
            .order_by(identity.desc())
            .limit(size)
            .subquery("part")
        )
        newest_first = part.c.id.desc()
        row = tx.connection.execute(
            select(
                func.array_agg(aggregate_order_by(part.c.id, newest_first)).label("ids"),
                func.string_agg(
                    part.c.vector,
                    aggregate_order_by(literal_column("''::bytea"), newest_first),
                ).label("packed"),
            )
        ).one()
        if row.ids is None:
            return
        yield list(row.ids), bytes(row.packed)
        if len(row.ids) < size:
            return
        left -= size
        before = row.ids[-1]


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
