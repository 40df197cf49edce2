"""Write the records of a bundle into an empty namespace, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.types import ARRAY, Text

from shared.domain.bundle_kinds import KINDS, Kind
from shared.errors import Conflict, InvalidInput
from shared.store.database import ReadTx, WriteTx
from shared.store.export_rows import origin_mark
from shared.store.namespaces import ensure_namespace
from shared.store.tables import metadata, namespaces, receipt_origins, threads

_OWN_ID: Final = {
    type_.partition(" ")[2]: (kind.table, column)
    for kind in KINDS
    for column, type_ in kind.fields.items()
    if type_.startswith("id ")
}
"""By the prefix of an id: the table and the column that hold what has it."""

_ERASED: Final = text(
    """
    SELECT count(*) FROM unnest(:ids) AS i
    JOIN tombstones AS t ON t.tenant_id = :tenant_id AND t.kind = split_part(i, '_', 1)
        AND t.hash = erasure_hash(i)
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))
_AT_ONCE: Final = 5_000


@dataclass(frozen=True, slots=True)
class Totals:
    """The counters that a restored namespace goes on from."""

    turn_count: int
    block_count: int
    erased_turn_count: int
    erased_block_count: int


def claim_empty(tx: WriteTx, namespace: str) -> None:
    """Begin a namespace, or take one in which nothing was said. Conflict `namespace_not_empty`."""
    ensure_namespace(tx, namespace)
    row = tx.connection.execute(
        select(namespaces)
        .where(namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace)
        .with_for_update()
    ).one()
    has_threads = tx.connection.execute(
        select(threads.c.thread_id)
        .where(threads.c.tenant_id == tx.tenant_id, threads.c.namespace == namespace)
        .limit(1)
    ).first()
    if row.turn_count or row.block_count or row.graph_version_id or has_threads:
        raise Conflict("a bundle goes into an empty namespace", code="namespace_not_empty")


def taken_ids(tx: ReadTx, ids: Collection[str]) -> bool:
    """Tell whether the tenant has anything with one of these ids already."""
    by_prefix: dict[str, list[str]] = {}
    for one in ids:
        by_prefix.setdefault(one.partition("_")[0], []).append(one)
    for prefix, some in by_prefix.items():
        table, column = _OWN_ID[prefix]
        statement = text(
            f"SELECT 1 FROM {table} "  # noqa: S608 - names of the code alone
            f"WHERE tenant_id = :tenant_id AND {column} = ANY(:ids) LIMIT 1"
        ).bindparams(bindparam("ids", type_=ARRAY(Text)))
        for page in _pages(some):
            values = {"tenant_id": tx.tenant_id, "ids": page}
            if tx.connection.execute(statement, values).first() is not None:
                return True
    return False


def count_erased(tx: ReadTx, ids: Collection[str]) -> int:
    """Return how many of the ids are of things that this tenant has erased."""
    return sum(
        tx.connection.execute(_ERASED, {"tenant_id": tx.tenant_id, "ids": page}).scalar_one()
        for page in _pages(sorted(ids))
    )


def write_records(
    tx: WriteTx, namespace: str, kind: Kind, rows: Sequence[Mapping[str, Any]], *, key_id: str
) -> None:
    """Insert records of one kind. InvalidInput `invalid_bundle` where the store refuses one."""
    table = metadata.tables[kind.table]
    added = dict(kind.constants)
    if "namespace" in table.c:
        added["namespace"] = namespace
    if "key_id" in table.c:
        added["key_id"] = key_id
    columns = [*kind.fields, *added]
    named = ", ".join(columns)
    statement = text(
        f"INSERT INTO {kind.table} (tenant_id, {named}) "  # noqa: S608 - names of the code alone
        f"SELECT :tenant_id, {named} FROM jsonb_populate_recordset("
        f"CAST(NULL AS {kind.table}), CAST(:rows AS jsonb))"
    )
    content = orjson.dumps([{**row, **added} for row in rows]).decode()
    try:
        tx.connection.execute(statement, {"tenant_id": tx.tenant_id, "rows": content})
    except (IntegrityError, DataError) as error:
        raise InvalidInput.at(
            "", f"a '{kind.name}' of the bundle breaks a rule of the store", "invalid_bundle"
        ) from error


def finish_namespace(
    tx: WriteTx,
    namespace: str,
    totals: Totals,
    *,
    graph_version_id: str | None,
    policy: Mapping[str, Any],
) -> None:
    """Let the namespace go on where its bundle stood; a policy of its own stays."""
    size = text(
        "(SELECT coalesce(sum(t.size_bytes), 0) FROM turns AS t "
        "WHERE t.tenant_id = namespaces.tenant_id AND t.namespace = namespaces.namespace)"
    )
    own = namespaces.c.policy
    tx.connection.execute(
        update(namespaces)
        .where(namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace)
        .values(
            turn_count=totals.turn_count,
            block_count=totals.block_count,
            erased_turn_count=totals.erased_turn_count,
            erased_block_count=totals.erased_block_count,
            derivation_version=1,
            graph_version_id=graph_version_id,
            revision=namespaces.c.revision + 1,
            stored_bytes=size,
        )
    )
    tx.connection.execute(
        update(namespaces)
        .where(
            namespaces.c.tenant_id == tx.tenant_id,
            namespaces.c.namespace == namespace,
            own == func.jsonb_build_object(),
        )
        .values(policy=dict(policy))
    )


def note_origin(tx: WriteTx, namespace: str, origin: str, mark: object) -> bool:
    """Let a namespace know the receipts erased where its bundle came from, if that is this tenant.

    Only the tenant that wrote the bundle can have made its mark.
    """
    if mark is None or mark != origin_mark(tx, origin):
        return False
    tx.connection.execute(
        receipt_origins.insert().values(tenant_id=tx.tenant_id, namespace=namespace, origin=origin)
    )
    return True


def unprojected_blocks(tx: ReadTx, namespace: str) -> list[str]:
    """Return the ready blocks that have events of which none is in the graph."""
    rows = tx.connection.execute(
        text(
            """
            SELECT s.block_id FROM block_states AS s
            WHERE s.tenant_id = :tenant_id AND s.namespace = :namespace AND s.status = 'ready'
              AND EXISTS (SELECT FROM events AS e
                  WHERE e.tenant_id = s.tenant_id AND e.block_id = s.block_id)
              AND NOT EXISTS (SELECT FROM events AS e JOIN node_sources AS n
                  USING (tenant_id, event_id)
                  WHERE e.tenant_id = s.tenant_id AND e.block_id = s.block_id)
            """
        ),
        {"tenant_id": tx.tenant_id, "namespace": namespace},
    )
    return list(rows.scalars())


def pending_blocks(tx: ReadTx, namespace: str) -> list[str]:
    """Return the blocks that are not ready."""
    rows = tx.connection.execute(
        text(
            "SELECT block_id FROM block_states WHERE tenant_id = :tenant_id "
            "AND namespace = :namespace AND status = 'pending' ORDER BY block_id"
        ),
        {"tenant_id": tx.tenant_id, "namespace": namespace},
    )
    return list(rows.scalars())


def _pages(ids: Sequence[str]) -> list[list[str]]:
    return [list(ids[start : start + _AT_ONCE]) for start in range(0, len(ids), _AT_ONCE)]
