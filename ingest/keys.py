"""Make, list and revoke keys; only a key that reaches every namespace may."""

from __future__ import annotations

from typing import Any

from ingest.schemas.administration import KeyIn
from shared.auth import issue_key, replace_secret
from shared.domain.tenancy import Caller
from shared.errors import Forbidden
from shared.store.audit import AuditEntry, record
from shared.store.database import WriteTx
from shared.store.keys import KeyRow, revoke_key


def check_may_administer(caller: Caller) -> None:
    """Raise Forbidden for a key limited to namespaces: it could make itself a wider one."""
    if caller.namespaces is not None:
        raise Forbidden("a key limited to namespaces cannot administer keys")


def make_key(tx: WriteTx, caller: Caller, body: KeyIn) -> tuple[dict[str, Any], str]:
    """Make a key; return its view and, apart from it, the secret that is never stored."""
    issued = issue_key(
        tx,
        label=body.label,
        permissions=body.permissions,
        namespaces=body.namespaces,
        expires_at=body.expires_at,
    )
    _audit(tx, caller, "key_created", issued.row)
    return key_view(issued.row), issued.key


def rotate(
    tx: WriteTx, caller: Caller, key_id: str, *, overlap_s: int
) -> tuple[dict[str, Any], str]:
    """Give a key a new secret; return its view and, apart from it, that secret.

    The one before opens for `overlap_s` seconds more. NotFound for an unknown id, Conflict
    (`key_not_active`) for a revoked or expired key.
    """
    issued = replace_secret(tx, key_id, overlap_s=overlap_s)
    _audit(tx, caller, "key_rotated", issued.row, overlap_s=overlap_s)
    return key_view(issued.row), issued.key


def revoke(tx: WriteTx, caller: Caller, key_id: str) -> dict[str, Any]:
    """Revoke a key from this moment on; NotFound when this tenant has none of that id."""
    row = revoke_key(tx, key_id)
    _audit(tx, caller, "key_revoked", row)
    return key_view(row)


def key_view(row: KeyRow) -> dict[str, Any]:
    """Return a key as the API shows it, without its secret."""
    return {
        "key_id": row.key_id,
        "label": row.label,
        "permissions": [permission.value for permission in row.permissions],
        "namespaces": None if row.namespaces is None else list(row.namespaces),
        "created_at": row.created_at.isoformat(),
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
        "revoked_at": row.revoked_at.isoformat() if row.revoked_at else None,
        "rotated_at": row.rotated_at.isoformat() if row.rotated_at else None,
        "previous_until": row.previous_until.isoformat() if row.previous_until else None,
    }


def _audit(tx: WriteTx, caller: Caller, action: str, row: KeyRow, **more: int) -> None:
    record(
        tx,
        AuditEntry(
            action,
            key_id=caller.key_id,
            subject=row.key_id,
            detail={"permissions": [p.value for p in row.permissions], **more},
        ),
    )
