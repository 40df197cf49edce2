"""Read a whole namespace, record by record, as one statement: one snapshot without any lock.

Only what is live is read: one derivation's events, one graph version, and what they rest on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import text

from shared.domain.bundle_kinds import KIND_OF, KINDS
from shared.store.database import ReadTx
from shared.store.erasures import keyed_hash

_AT_ONCE: Final = 200

# What of each kind is read; `x` is its table. Undone imports are hidden by row level security.
_WHICH: Final[Mapping[str, str]] = {
    "thread": "WHERE {here:x} ORDER BY x.thread_id",
    "turn": "WHERE {here:x} ORDER BY x.namespace_turn",
    "message": "WHERE {here:x} ORDER BY x.thread_id, x.turn_sequence, x.position",
    "block": "WHERE {here:x} ORDER BY x.sequence",
    "layer": "JOIN blocks AS b USING (tenant_id, block_id) WHERE {here:b}",
    "state": "JOIN blocks AS b USING (tenant_id, block_id) WHERE {here:b}",
    "summary": """JOIN blocks AS b USING (tenant_id, block_id) CROSS JOIN live
        WHERE {here:b} AND NOT EXISTS (
            SELECT FROM block_summaries AS o WHERE o.tenant_id = x.tenant_id
              AND o.block_id = x.block_id
              AND (o.derivation_version > live.derivation_version,
                   abs(o.derivation_version - live.derivation_version))
                < (x.derivation_version > live.derivation_version,
                   abs(x.derivation_version - live.derivation_version)))""",
    "receipt": """WHERE {here:x} AND x.operation = 'turn' AND x.erased_at IS NULL
        AND EXISTS (SELECT FROM turns AS t WHERE {here:t}
                    AND t.turn_id = x.answer ->> 'turn_id')""",
    "event": "WHERE {by_event} ORDER BY x.event_id",
    "event_source": """JOIN messages AS m USING (tenant_id, message_id)
        WHERE {by_event} AND m.namespace = :namespace
        ORDER BY x.event_id, x.position""",
    "event_link": """WHERE {by_event}
        AND x.other_event_id IN (SELECT event_id FROM shown)""",
    "graph_version": "WHERE x.tenant_id = :tenant_id AND x.graph_version_id IN "
    "(SELECT graph_version_id FROM live)",
    "node": "WHERE x.tenant_id = :tenant_id AND x.graph_version_id IN "
    "(SELECT graph_version_id FROM live)",
    "label": "WHERE x.tenant_id = :tenant_id AND x.node_id IN (SELECT node_id FROM drawn)",
    "fact": "WHERE x.tenant_id = :tenant_id AND x.node_id IN (SELECT node_id FROM drawn)",
    "edge": "WHERE x.tenant_id = :tenant_id AND x.from_node_id IN (SELECT node_id FROM drawn)",
    "node_source": "WHERE {by_event} AND x.node_id IN (SELECT node_id FROM drawn)",
    "label_source": """JOIN labels AS r USING (tenant_id, label_id)
        WHERE {by_event} AND r.node_id IN (SELECT node_id FROM drawn)""",
    "fact_source": """JOIN facts AS r USING (tenant_id, fact_id)
        WHERE {by_event} AND r.node_id IN (SELECT node_id FROM drawn)""",
    "edge_source": """JOIN edges AS r USING (tenant_id, edge_id)
        WHERE {by_event}
          AND r.from_node_id IN (SELECT node_id FROM drawn)""",
    "batch": "WHERE x.tenant_id = :tenant_id AND x.batch_id IN (SELECT batch_id FROM used)",
    "batch_item": "WHERE x.tenant_id = :tenant_id AND x.batch_id IN (SELECT batch_id FROM used)",
    "assessment": "WHERE x.tenant_id = :tenant_id AND x.batch_id IN (SELECT batch_id FROM used)",
    "use_receipt": "WHERE {here:x} ORDER BY x.use_receipt_id",
    "use_receipt_event": """JOIN use_receipts AS u USING (tenant_id, use_receipt_id)
        WHERE {by_event} AND u.namespace = :namespace""",
}

# Columns that are not read as they stand: never a key, never what is not in the bundle.
_INSTEAD: Final[Mapping[tuple[str, str], str]] = {
    ("event", "superseded_by"): "CASE WHEN x.superseded_by IN (SELECT event_id FROM shown) "
    "THEN x.superseded_by END",
    ("batch_item", "event_ids"): "ARRAY(SELECT e FROM unnest(x.event_ids) AS e "
    "WHERE e IN (SELECT event_id FROM shown))",
    ("use_receipt", "audit"): "x.audit - 'key_id'",
}

_SHARED: Final = """
    WITH live AS (
        SELECT n.derivation_version, n.graph_version_id FROM namespaces AS n
        WHERE n.tenant_id = :tenant_id AND n.namespace = :namespace
    ), shown AS MATERIALIZED (
        SELECT e.event_id FROM events AS e CROSS JOIN live
        WHERE e.tenant_id = :tenant_id AND e.namespace = :namespace AND (
            e.derivation_version = live.derivation_version OR EXISTS (
                SELECT FROM carried_events AS c WHERE c.tenant_id = e.tenant_id
                  AND c.event_id = e.event_id
                  AND c.derivation_version = live.derivation_version))
    ), drawn AS MATERIALIZED (
        SELECT v.node_id FROM nodes AS v
        WHERE v.tenant_id = :tenant_id AND v.graph_version_id IN (
            SELECT graph_version_id FROM live)
    ), used AS MATERIALIZED (
        SELECT DISTINCT u.batch_id FROM use_receipts AS u
        WHERE u.tenant_id = :tenant_id AND u.namespace = :namespace
    )
"""


_BY_EVENT: Final = "x.tenant_id = :tenant_id AND x.event_id IN (SELECT event_id FROM shown)"
_HERE: Final = re.compile(r"{here:(\w)}")


def _part(name: str) -> str:
    kind = KIND_OF[name]
    which = _WHICH[name].replace("{by_event}", _BY_EVENT)
    which = _HERE.sub(r"\1.tenant_id = :tenant_id AND \1.namespace = :namespace", which)
    columns = ", ".join(
        f"{_INSTEAD.get((name, column), f'x.{column}')} AS {column}" for column in kind.fields
    )
    return (
        f"(SELECT '{name}' AS record, to_jsonb(r) AS fields "  # noqa: S608 - constants of the code
        f"FROM (SELECT {columns} FROM {kind.table} AS x {which}) AS r)"
    )


_NAMESPACE: Final = """
    SELECT 'namespace' AS record, to_jsonb(r) AS fields FROM (
        SELECT n.policy, n.turn_count, n.block_count,
            n.turn_count - (SELECT count(*) FROM turns AS t WHERE t.tenant_id = n.tenant_id
                AND t.namespace = n.namespace AND t.namespace_turn > 0) AS erased_turn_count,
            n.block_count - (SELECT count(*) FROM blocks AS b WHERE b.tenant_id = n.tenant_id
                AND b.namespace = n.namespace) AS erased_block_count
        FROM namespaces AS n
        WHERE n.tenant_id = :tenant_id AND n.namespace = :namespace) AS r
"""
_EVERYTHING: Final = text(
    _SHARED + " UNION ALL ".join([f"({_NAMESPACE})", *(_part(kind.name) for kind in KINDS)])
).execution_options(stream_results=True, yield_per=_AT_ONCE)


def records_of(tx: ReadTx, namespace: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give what a namespace holds, kind by kind; first `namespace`: its policy and counters."""
    place = {"tenant_id": tx.tenant_id, "namespace": namespace}
    rows = tx.connection.execute(_EVERYTHING, place)
    for row in rows:
        yield row.record, row.fields


def origin_mark(tx: ReadTx, namespace: str) -> str | None:
    """Return what tells this tenant alone where a bundle came from; None before any erasure."""
    return keyed_hash(tx, f"origin\x1f{namespace}")
