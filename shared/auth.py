"""From a request's key to its Caller: the tenant and its rights come from the key alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from shared.domain.tenancy import Caller, Permission
from shared.errors import Forbidden, NotFound, Unauthorized
from shared.store.database import Database, WriteTx
from shared.store.keys import SECRET_PREFIX, KeyRow, create_key, find_caller

_SCHEMES = frozenset({"bearer", "token", "api-key"})
_LONGEST_KEY = 200


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


def authenticate(database: Database, authorization: str | None) -> Caller:
    """Return who asks, by the value of the Authorization header.

    Accepts `Bearer sg_…`, `Token sg_…` and `Api-Key sg_…`. Raises Unauthorized when there is no
    key or it is unknown, revoked or expired; the three are not told apart.
    """
    scheme, _, secret = (authorization or "").strip().partition(" ")
    secret = secret.strip()
    if scheme.lower() not in _SCHEMES or not _is_secret(secret):
        raise Unauthorized("send an API key as 'Authorization: Bearer sg_…'")
    caller = find_caller(database, secret)
    if caller is None:
        raise Unauthorized("this API key is not valid")
    return caller


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


def _is_secret(value: str) -> bool:
    return value.startswith(SECRET_PREFIX) and value.isascii() and len(value) <= _LONGEST_KEY
