"""API keys: 32 random bytes shown once, stored as their hash, found without a tenant set.

A key's secret has 256 bits, so a plain SHA-256 is enough: there is nothing to guess or to salt.
The database looks for a piece of the hash; the whole is compared here, in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Row, func, insert, or_, select, text, update

from shared.domain.tenancy import Caller, Permission
from shared.errors import Conflict, NotFound
from shared.ids import Prefix, new_id
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.tables import api_keys

SECRET_PREFIX = "sg_"  # noqa: S105 - how a secret begins, not one
_HANDLE_BYTES = 8
_FIND = text(
    "SELECT tenant_id, key_id, permissions, namespaces, limits, hash, refused "
    "FROM find_api_keys(:handle)"
)


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key without its secret; `namespaces` None means all of the tenant's."""

    key_id: str
    label: str
    permissions: tuple[Permission, ...]
    namespaces: tuple[str, ...] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    rotated_at: datetime | None = None
    previous_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class FoundKey:
    """Who a secret stands for; `refused` says why it is no longer one that opens anything."""

    caller: Caller
    refused: str | None


def create_key(
    tx: WriteTx,
    label: str,
    *,
    permissions: Collection[Permission],
    namespaces: Collection[str] | None = None,
    expires_at: datetime | None = None,
) -> tuple[KeyRow, str]:
    """Store a new key and return it with its secret, which nobody can read again."""
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    key_id = new_id(Prefix.KEY)
    tx.connection.execute(
        insert(api_keys).values(
            tenant_id=tx.tenant_id,
            key_id=key_id,
            key_hash=_hash(secret),
            label=label,
            permissions=sorted(p.value for p in permissions),
            namespaces=None if namespaces is None else sorted(namespaces),
            expires_at=expires_at,
        )
    )
    return get_key(tx, key_id), secret


def find_key(database: Database, secret: str) -> FoundKey | None:
    """Return who the secret stands for; None when nobody was ever given it.

    Nothing is remembered between calls, so a revocation takes effect at once, on every process.
    """
    wanted = _hash(secret)
    with database.anonymous() as connection:
        rows = connection.execute(_FIND, {"handle": wanted[:_HANDLE_BYTES]}).all()
    for row in rows:
        if hmac.compare_digest(bytes(row.hash), wanted):
            return FoundKey(_caller(row), row.refused)
    return None


def get_key(tx: ReadTx, key_id: str) -> KeyRow:
    """Return one key; NotFound when this tenant has none of that id."""
    row = tx.connection.execute(
        select(api_keys).where(api_keys.c.tenant_id == tx.tenant_id, api_keys.c.key_id == key_id)
    ).one_or_none()
    if row is None:
        raise NotFound("no such key")
    return _key(row)


def list_keys(tx: ReadTx, *, before: str | None = None, limit: int = 50) -> list[KeyRow]:
    """Return the tenant's keys, newest first, older than the id `before`, revoked ones too."""
    statement = select(api_keys).where(api_keys.c.tenant_id == tx.tenant_id)
    if before is not None:
        statement = statement.where(api_keys.c.key_id < before)
    rows = tx.connection.execute(statement.order_by(api_keys.c.key_id.desc()).limit(limit))
    return [_key(row) for row in rows]


def rotate_key(tx: WriteTx, key_id: str, *, overlap_s: int) -> tuple[KeyRow, str]:
    """Give a key a new secret and return it; the one before opens for `overlap_s` seconds more.

    A secret of an earlier rotation ends now. Conflict (`key_not_active`) for a key that is revoked
    or expired, NotFound when this tenant has none of that id.
    """
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    until = func.now() + timedelta(seconds=overlap_s)
    rotated = tx.connection.execute(
        update(api_keys)
        .where(
            api_keys.c.tenant_id == tx.tenant_id,
            api_keys.c.key_id == key_id,
            api_keys.c.revoked_at.is_(None),
            or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > func.now()),
        )
        .values(
            key_hash=_hash(secret),
            previous_key_hash=api_keys.c.key_hash,
            previous_until=until,
            rotated_at=func.now(),
        )
    ).rowcount
    row = get_key(tx, key_id)
    if not rotated:
        raise Conflict("this key is revoked or expired: make another", code="key_not_active")
    return row, secret


def revoke_key(tx: WriteTx, key_id: str) -> KeyRow:
    """Revoke a key for good; NotFound when there is none, no change when it was revoked."""
    tx.connection.execute(
        update(api_keys)
        .where(
            api_keys.c.tenant_id == tx.tenant_id,
            api_keys.c.key_id == key_id,
            api_keys.c.revoked_at.is_(None),
        )
        .values(revoked_at=func.now())
    )
    return get_key(tx, key_id)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _key(row: Row[tuple[object, ...]]) -> KeyRow:
    return KeyRow(
        key_id=row.key_id,
        label=row.label,
        permissions=tuple(Permission(p) for p in row.permissions),
        namespaces=None if row.namespaces is None else tuple(row.namespaces),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        rotated_at=row.rotated_at,
        previous_until=row.previous_until,
    )


def _caller(row: Row[tuple[object, ...]]) -> Caller:
    return Caller(
        tenant_id=row.tenant_id,
        key_id=row.key_id,
        permissions=frozenset(Permission(p) for p in row.permissions),
        namespaces=None if row.namespaces is None else frozenset(row.namespaces),
        limits=row.limits,
    )
