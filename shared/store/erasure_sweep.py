"""Walk over what quotes or names erased text without resting on it, and take the text out.

Batches lose their words and what they showed; ended jobs, stored answers and audit details that
hold the erased wording lose those. A page of one kind at a time, so that a killed sweep goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, text
from sqlalchemy.types import ARRAY, Text

from shared.domain.erasure import Wording
from shared.store.database import ReadTx, WriteTx
from shared.store.erasures import erase_sources

BATCHES: Final = "batches"
JOBS: Final = "jobs"
AUDIT: Final = "audit_log"
RECEIPTS: Final = "request_receipts"
SWEPT: Final = (BATCHES, JOBS, AUDIT, RECEIPTS)
"""What is swept, in order."""

_TABLE_OF_REF: Final[Mapping[str, tuple[str, str]]] = {
    "event": ("events", "event_id"),
    "graph-node": ("nodes", "node_id"),
    "element": ("nodes", "node_id"),
    "raw": ("messages", "message_id"),
    "block": ("blocks", "block_id"),
}
_KEPT_IN_PAYLOAD: Final = ("block_id", "graph_version_id", "derivation_version", "erasure_id")

_PAGES: Final[Mapping[str, str]] = {
    BATCHES: """
        SELECT b.batch_id AS id, jsonb_build_array(b.query, b.request,
            (SELECT jsonb_agg(jsonb_build_array(a.question, a.fit, a.missing, a.advisories,
                a.rejected_evidence_refs)) FROM assessments AS a
             WHERE a.tenant_id = b.tenant_id AND a.batch_id = b.batch_id),
            (SELECT jsonb_agg(jsonb_build_array(u.receipt_id, u.answer, u.audit))
             FROM use_receipts AS u
             WHERE u.tenant_id = b.tenant_id AND u.batch_id = b.batch_id)) AS held,
            b.thread_id IS NOT NULL AND NOT EXISTS (
                SELECT FROM threads AS h WHERE h.tenant_id = b.tenant_id
                  AND h.namespace = b.namespace AND h.thread_id = b.thread_id) AS is_lost,
            ARRAY(SELECT i.evidence_ref FROM batch_items AS i
                  WHERE i.tenant_id = b.tenant_id AND i.batch_id = b.batch_id
                  UNION SELECT unnest(u.evidence_refs) FROM use_receipts AS u
                  WHERE u.tenant_id = b.tenant_id AND u.batch_id = b.batch_id
                  UNION SELECT 'event:' || e FROM batch_items AS i, unnest(i.event_ids) AS e
                  WHERE i.tenant_id = b.tenant_id AND i.batch_id = b.batch_id) AS refs
        FROM batches AS b
        WHERE b.tenant_id = :tenant_id AND b.namespace = :namespace AND b.batch_id > :after
        ORDER BY b.batch_id LIMIT :limit
    """,
    JOBS: """
        SELECT job_id AS id, jsonb_build_array(payload, errors, rejections, result, reason) AS held
        FROM jobs
        WHERE tenant_id = :tenant_id AND namespace = :namespace AND job_id > :after
        ORDER BY job_id LIMIT :limit
    """,
    AUDIT: """
        SELECT audit_id AS id, detail AS held FROM audit_log
        WHERE tenant_id = :tenant_id AND namespace = :namespace AND audit_id > :after
        ORDER BY audit_id LIMIT :limit
    """,
    RECEIPTS: """
        SELECT operation || chr(31) || receipt_id AS id, answer AS held FROM request_receipts
        WHERE tenant_id = :tenant_id AND namespace = :namespace
          AND operation || chr(31) || receipt_id > :after
        ORDER BY operation || chr(31) || receipt_id LIMIT :limit
    """,
}


@dataclass(frozen=True, slots=True)
class SweptPage:
    """How many rows lost text, and where the next page begins; None after the last."""

    scrubbed: int
    after: str | None


def sweep_page(
    tx: WriteTx,
    namespace: str,
    erasure_id: str,
    *,
    what: str,
    wording: Wording,
    after: str,
    limit: int,
) -> SweptPage:
    """Look through one page of one kind of record, and take erased text out of it."""
    rows = tx.connection.execute(
        text(_PAGES[what]),
        {"tenant_id": tx.tenant_id, "namespace": namespace, "after": after, "limit": limit},
    ).all()
    if what == BATCHES:
        scrubbed = _scrub_batches(tx, erasure_id, rows, wording)
    else:
        found = [row.id for row in rows if wording.is_in(row.held)]
        scrubbed = len(found)
        _SCRUBS[what](tx, namespace, erasure_id, found)
    return SweptPage(scrubbed, rows[-1].id if len(rows) == limit else None)


def _scrub_batches(tx: WriteTx, erasure_id: str, rows: Sequence[Any], wording: Wording) -> int:
    gone = _gone(tx, {ref for row in rows for ref in row.refs})
    touched = [
        row.id
        for row in rows
        if row.is_lost or not gone.isdisjoint(row.refs) or wording.is_in(row.held)
    ]
    if touched:
        scrub = {"batches": touched, "refs": sorted(gone)}
        erase_sources(tx, erasure_id, {"scrub": scrub})
    return len(touched)


def _gone(tx: ReadTx, refs: Collection[str]) -> set[str]:
    """Return which evidence refs name something that is there no more."""
    by_table: dict[tuple[str, str], dict[str, list[str]]] = {}
    for ref in refs:
        kind, _, rest = ref.partition(":")
        if kind in _TABLE_OF_REF:
            named = by_table.setdefault(_TABLE_OF_REF[kind], {})
            named.setdefault(rest.partition(":")[0], []).append(ref)
    gone: set[str] = set()
    for (table, column), named in by_table.items():
        there = tx.connection.execute(
            text(
                f"SELECT {column} FROM {table} "  # noqa: S608 - constants of this file
                f"WHERE tenant_id = :tenant_id AND {column} = ANY(:ids)"
            ).bindparams(bindparam("ids", type_=ARRAY(Text))),
            {"tenant_id": tx.tenant_id, "ids": list(named)},
        ).scalars()
        for missing in named.keys() - set(there):
            gone.update(named[missing])
    return gone


def _scrub_jobs(tx: WriteTx, namespace: str, _erasure_id: str, ids: Sequence[str]) -> None:
    if ids:
        tx.connection.execute(
            text(
                """
                UPDATE jobs AS j SET errors = '[]', rejections = '[]', result = '{}',
                    payload = coalesce((SELECT jsonb_object_agg(p.key, p.value)
                        FROM jsonb_each(j.payload) AS p WHERE p.key = ANY(:kept)), '{}')
                WHERE tenant_id = :tenant_id AND namespace = :namespace AND job_id = ANY(:ids)
                """
            ).bindparams(bindparam("ids", type_=ARRAY(Text)), bindparam("kept", type_=ARRAY(Text))),
            {
                "tenant_id": tx.tenant_id,
                "namespace": namespace,
                "ids": list(ids),
                "kept": list(_KEPT_IN_PAYLOAD),
            },
        )


def _scrub_audit(tx: WriteTx, _namespace: str, erasure_id: str, ids: Sequence[str]) -> None:
    if ids:
        erase_sources(tx, erasure_id, {"scrub": {"batches": [], "refs": [], "audit": list(ids)}})


def _scrub_receipts(tx: WriteTx, namespace: str, _erasure_id: str, ids: Sequence[str]) -> None:
    if ids:
        tx.connection.execute(
            text(
                """
                UPDATE request_receipts SET answer = NULL, erased_at = now()
                WHERE tenant_id = :tenant_id AND namespace = :namespace
                  AND operation || chr(31) || receipt_id = ANY(:ids)
                """
            ).bindparams(bindparam("ids", type_=ARRAY(Text))),
            {"tenant_id": tx.tenant_id, "namespace": namespace, "ids": list(ids)},
        )


_SCRUBS: Final = {JOBS: _scrub_jobs, AUDIT: _scrub_audit, RECEIPTS: _scrub_receipts}
