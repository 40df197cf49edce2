"""Use receipts: which evidence was really used, with the audit facts copied (D25, D32)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from shared.store.database import ReadTx, WriteTx
from shared.store.tables import use_receipt_events, use_receipts


@dataclass(frozen=True, slots=True)
class UseReceipt:
    """A receipt: what was asked (as a hash), what was answered, and the facts for the audit."""

    use_receipt_id: str
    namespace: str
    receipt_id: str
    request_hash: str
    batch_id: str
    assessment_id: str | None
    evidence_refs: tuple[str, ...]
    answer: Mapping[str, Any]
    audit: Mapping[str, Any]


def find_use_receipt(tx: ReadTx, namespace: str, receipt_id: str) -> UseReceipt | None:
    """Return the receipt of that id in the namespace, or None."""
    row = tx.connection.execute(
        select(use_receipts).where(
            use_receipts.c.tenant_id == tx.tenant_id,
            use_receipts.c.namespace == namespace,
            use_receipts.c.receipt_id == receipt_id,
        )
    ).one_or_none()
    if row is None:
        return None
    return UseReceipt(
        use_receipt_id=row.use_receipt_id,
        namespace=row.namespace,
        receipt_id=row.receipt_id,
        request_hash=row.request_hash,
        batch_id=row.batch_id,
        assessment_id=row.assessment_id,
        evidence_refs=tuple(row.evidence_refs),
        answer=row.answer,
        audit=row.audit,
    )


def insert_use_receipt(tx: WriteTx, receipt: UseReceipt, *, reinforced: Mapping[str, bool]) -> bool:
    """Store a receipt and whether each event was reinforced.

    False, with nothing stored, when another request took the receipt id first.
    """
    added = tx.connection.execute(
        upsert(use_receipts)
        .values(
            tenant_id=tx.tenant_id,
            use_receipt_id=receipt.use_receipt_id,
            namespace=receipt.namespace,
            receipt_id=receipt.receipt_id,
            request_hash=receipt.request_hash,
            batch_id=receipt.batch_id,
            assessment_id=receipt.assessment_id,
            evidence_refs=list(receipt.evidence_refs),
            answer=dict(receipt.answer),
            audit=dict(receipt.audit),
        )
        .on_conflict_do_nothing(index_elements=["tenant_id", "namespace", "receipt_id"])
        .returning(use_receipts.c.use_receipt_id)
    ).scalar()
    if added is None:
        return False
    if reinforced:
        tx.connection.execute(
            insert(use_receipt_events),
            [
                {
                    "tenant_id": tx.tenant_id,
                    "use_receipt_id": receipt.use_receipt_id,
                    "event_id": event_id,
                    "reinforced": counted,
                }
                for event_id, counted in reinforced.items()
            ],
        )
    return True
