"""Receipts of requests: the first answer to a receipt is the answer to every repetition of it.

The claim is the first row a request writes and the answer the last, in one transaction, so that
two requests with one receipt store once and a crash between them leaves nothing (D42).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from shared.errors import Conflict
from shared.store.database import WriteTx
from shared.store.tables import request_receipts

NO_NAMESPACE = "*"
"""Stands for the namespace of operations that belong to the tenant, such as making a key."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Which request this is: its place, the caller's receipt, and the hash of its content."""

    namespace: str
    operation: str
    receipt_id: str
    request_hash: str


def request_hash(content: object) -> str:
    """Return the SHA-256 of the canonical JSON of a request, keys sorted, before redaction."""
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def claim(tx: WriteTx, receipt: Receipt) -> dict[str, Any] | None:
    """Claim a receipt; None means it is new and this transaction must `answer` it.

    A repetition waits for the first to commit and gets its answer with `duplicate` true; after
    an erasure also `erased`, whatever its content. Conflict (`receipt_conflict`) when the content
    differs.
    """
    new = tx.connection.execute(
        insert(request_receipts)
        .values(
            tenant_id=tx.tenant_id,
            namespace=receipt.namespace,
            operation=receipt.operation,
            receipt_id=receipt.receipt_id,
            request_hash=receipt.request_hash,
        )
        .on_conflict_do_nothing()
        .returning(request_receipts.c.receipt_id)
    ).first()
    return None if new is not None else _first_answer(tx, receipt)


def answer(tx: WriteTx, receipt: Receipt, content: Mapping[str, Any]) -> None:
    """Keep the answer of a claimed receipt, to be given again."""
    tx.connection.execute(
        update(request_receipts).where(*_is(tx, receipt)).values(answer=dict(content))
    )


def once(
    tx: WriteTx, receipt: Receipt | None, act: Callable[[], Mapping[str, Any]]
) -> dict[str, Any]:
    """Do `act` unless its receipt was answered before; return the answer with `duplicate`.

    Without a receipt the act is done. Raises Conflict (`receipt_conflict`) as `claim` does.
    """
    known = None if receipt is None else claim(tx, receipt)
    if known is not None:
        return known
    content = {**act(), "duplicate": False}
    if receipt is not None:
        answer(tx, receipt, content)
    return content


def _first_answer(tx: WriteTx, receipt: Receipt) -> dict[str, Any]:
    row = tx.connection.execute(select(request_receipts).where(*_is(tx, receipt))).one_or_none()
    if row is None:
        # Refused by the database, which knows an erased receipt by its keyed hash alone.
        return {"duplicate": True, "erased": True}
    known: dict[str, Any] = dict(row.answer or {})
    if row.erased_at is not None:
        return known | {"duplicate": True, "erased": True}
    if row.request_hash != receipt.request_hash:
        raise Conflict(
            "this receipt was used for a request with other content; nothing was stored",
            code="receipt_conflict",
        )
    return known | {"duplicate": True}


def _is(tx: WriteTx, receipt: Receipt) -> tuple[Any, ...]:
    table = request_receipts.c
    return (
        table.tenant_id == tx.tenant_id,
        table.namespace == receipt.namespace,
        table.operation == receipt.operation,
        table.receipt_id == receipt.receipt_id,
    )
