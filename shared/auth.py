"""From a request's key to its Caller: the tenant and its rights come from the key alone."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.tenancy import Caller, Permission
from shared.errors import Forbidden, NotFound, Unauthorized
from shared.store.audit import AuditEntry, record
from shared.store.database import Database, WriteTx
from shared.store.keys import SECRET_PREFIX, KeyRow, create_key, find_key, rotate_key

_SCHEMES = frozenset({"bearer", "token", "api-key"})
_LONGEST_KEY = 200
_AGAIN_AFTER_S = 60.0
_MOST_TOLD = 10_000


@dataclass(slots=True)
class _Recent:
    """Which keys were told of in the last minute: a client in a loop must not flood the log."""

    told: dict[str, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_news(self, key_id: str) -> bool:
        now = time.monotonic()
        with self.lock:
            if now - self.told.get(key_id, -math.inf) < _AGAIN_AFTER_S:
                return False
            if len(self.told) >= _MOST_TOLD:
                self.told.clear()
            self.told[key_id] = now
            return True


_REFUSED = _Recent()


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key; `key` is its secret text, shown this once and never again."""

    key: str
    row: KeyRow

    @property
    def key_id(self) -> str:
        """The id by which the key is listed and revoked."""
        return self.row.key_id


def issue_key(
    tx: WriteTx,
    *,
    label: str,
    permissions: Collection[Permission],
    namespaces: Collection[str] | None = None,
    expires_at: datetime | None = None,
) -> IssuedKey:
    """Make a key of the transaction's tenant; `namespaces` None reaches all of them."""
    row, secret = create_key(
        tx, label, permissions=permissions, namespaces=namespaces, expires_at=expires_at
    )
    return IssuedKey(secret, row)


def replace_secret(tx: WriteTx, key_id: str, *, overlap_s: int) -> IssuedKey:
    """Give a key a new secret; the one before opens for `overlap_s` seconds more."""
    row, secret = rotate_key(tx, key_id, overlap_s=overlap_s)
    return IssuedKey(secret, row)


def authenticate(database: Database, authorization: str | None) -> Caller:
    """Return who asks, by the value of the Authorization header.

    Accepts `Bearer sg_…`, `Token sg_…` and `Api-Key sg_…`. Raises Unauthorized when there is no
    key or it is unknown, revoked, expired or rotated out; these are not told apart. A key that
    opened once and no longer does leaves a trace in its tenant's audit log.
    """
    scheme, _, secret = (authorization or "").strip().partition(" ")
    secret = secret.strip()
    if scheme.lower() not in _SCHEMES or not _is_secret(secret):
        raise Unauthorized("send an API key as 'Authorization: Bearer sg_…'")
    found = find_key(database, secret)
    if found is not None and found.refused is None:
        return found.caller
    if found is not None and _REFUSED.is_news(found.caller.key_id):
        _audit_refused(database, found.caller, found.refused)
    raise Unauthorized("this API key is not valid")


def require(caller: Caller, permissions: tuple[Permission, ...]) -> None:
    """Raise Forbidden unless the key carries one of these permissions; `admin` carries all."""
    if not any(caller.may(permission) for permission in permissions):
        names = " or ".join(f"'{permission.value}'" for permission in permissions)
        raise Forbidden(f"this API key lacks the permission {names}")


def reach(caller: Caller, namespace: str) -> str:
    """Return the namespace if the key reaches it.

    Raises NotFound with the words that an unknown namespace gets, so that a key cannot learn
    what else its tenant has.
    """
    if not caller.reaches(namespace):
        raise NotFound("no such namespace")
    return namespace


def _audit_refused(database: Database, caller: Caller, why: str | None) -> None:
    entry = AuditEntry("key_refused", caller.key_id, subject=caller.key_id, detail={"reason": why})
    with database.write(caller.tenant_id) as tx:
        record(tx, entry)


def _is_secret(value: str) -> bool:
    return value.startswith(SECRET_PREFIX) and value.isascii() and len(value) <= _LONGEST_KEY
