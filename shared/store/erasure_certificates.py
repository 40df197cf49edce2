"""Certificates of erasure: facts signed with the tenant's erasure key, and checked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import text

from shared.domain.erasure import SelectorKind
from shared.store.database import ReadTx, WriteTx
from shared.store.erasures import Erasure, is_erased, keyed_hash, receipt_key, tombstones_of

ALGORITHM: Final = "HMAC-SHA256"
_FORMAT: Final = 1
_TABLES: Final[Mapping[str, tuple[str, str]]] = {
    "trn": ("turns", "turn_id"),
    "msg": ("messages", "message_id"),
    "blk": ("blocks", "block_id"),
    "evt": ("events", "event_id"),
}
ERASABLE: Final = tuple(_TABLES)
"""The prefixes of ids that leave a tombstone."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a certificate is worth now: its signature, and whether its tombstones still stand."""

    is_signed: bool
    is_complete: bool


@dataclass(frozen=True, slots=True)
class CheckedThing:
    """An id or a receipt: whether this erasure took it, and whether it is really not there."""

    name: str
    is_erased: bool
    is_absent: bool


def certificate_of(tx: WriteTx, erasure: Erasure, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the signed certificate of an erasure that is ending now."""
    ended: str = tx.connection.execute(text("SELECT now()")).scalar_one().isoformat()
    body = {
        "format": _FORMAT,
        "algorithm": ALGORITHM,
        "erasure_id": erasure.erasure_id,
        "namespace": erasure.namespace,
        "selector_kind": erasure.kind.value,
        "selector_hash": erasure.selector_hash,
        "started_at": erasure.created_at.isoformat(),
        "finished_at": ended,
        **facts,
    }
    return body | {"signature": keyed_hash(tx, _canonical(body))}


def check_certificate(tx: ReadTx, erasure: Erasure, certificate: Mapping[str, Any]) -> Checked:
    """Check a certificate, as stored or as handed in, against the key and the tombstones."""
    body = {name: value for name, value in certificate.items() if name != "signature"}
    signature = certificate.get("signature")
    is_signed = (
        signature is not None
        and body.get("erasure_id") == erasure.erasure_id
        and keyed_hash(tx, _canonical(body)) == signature
    )
    return Checked(is_signed, body.get("hashes") == tombstones_of(tx, erasure.erasure_id))


def check_ids(tx: ReadTx, erasure: Erasure, ids: Sequence[str]) -> list[CheckedThing]:
    """Tell of each id whether the erasure took it, and whether nothing of that id is there."""
    return [
        CheckedThing(
            one,
            is_erased(tx, one.partition("_")[0], one, erasure_id=erasure.erasure_id),
            not _is_there(tx, one),
        )
        for one in ids
    ]


def check_receipts(tx: ReadTx, erasure: Erasure, receipts: Sequence[str]) -> list[CheckedThing]:
    """Tell of each receipt of a turn whether the erasure took it and no such turn is there."""
    checked = []
    for one in receipts:
        key = receipt_key(erasure.namespace, "turn", one)
        there = tx.connection.execute(
            text(
                "SELECT 1 FROM request_receipts WHERE tenant_id = :tenant_id "
                "AND namespace = :namespace AND operation = 'turn' AND receipt_id = :receipt_id"
            ),
            {
                "tenant_id": tx.tenant_id,
                "namespace": erasure.namespace,
                "receipt_id": one,
            },
        ).first()
        erased = is_erased(tx, "receipt", key, erasure_id=erasure.erasure_id)
        checked.append(CheckedThing(one, erased, there is None))
    return checked


def exists_here(tx: ReadTx, namespace: str, kind: SelectorKind, selector: str) -> bool:
    """Tell whether what an erasure selects by name is in the namespace."""
    statement = {
        SelectorKind.TURN: "SELECT 1 FROM turns WHERE turn_id = :selector AND {}",
        SelectorKind.EVENT: "SELECT 1 FROM events WHERE event_id = :selector AND {}",
        SelectorKind.THREAD: "SELECT 1 FROM threads WHERE thread_id = :selector AND {}",
    }[kind].format("tenant_id = :tenant_id AND namespace = :namespace")
    values = {"tenant_id": tx.tenant_id, "namespace": namespace, "selector": selector}
    return tx.connection.execute(text(statement), values).first() is not None


def _is_there(tx: ReadTx, one: str) -> bool:
    table, column = _TABLES[one.partition("_")[0]]
    found = tx.connection.execute(
        text(f"SELECT 1 FROM {table} WHERE tenant_id = :tenant_id AND {column} = :id"),  # noqa: S608 - constants of this file
        {"tenant_id": tx.tenant_id, "id": one},
    ).first()
    return found is not None


def _canonical(body: Mapping[str, Any]) -> str:
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
