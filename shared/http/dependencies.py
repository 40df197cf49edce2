"""What handlers are given: the database, the clock, the settings, the caller, the idempotency key.

Each comes from the application's state, where the composition root put it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Security
from fastapi.security import HTTPBearer

from shared import auth
from shared.clock import Clock
from shared.domain.tenancy import Caller, Permission, check_name
from shared.errors import InvalidInput
from shared.limits import take_request
from shared.settings import Settings
from shared.store.database import Database

_LONGEST_RECEIPT = 200
_scheme = HTTPBearer(
    auto_error=False,
    scheme_name="api_key",
    description="An API key, `sg_…`. The prefixes `Token` and `Api-Key` are taken as well.",
)


def database(request: Request) -> Database:
    """Return the app role's database."""
    found: Database = request.app.state.database
    return found


def clock(request: Request) -> Clock:
    """Return the application's clock."""
    found: Clock = request.app.state.clock
    return found


def settings(request: Request) -> Settings:
    """Return the application's settings."""
    found: Settings = request.app.state.settings
    return found


DatabaseOf = Annotated[Database, Depends(database)]
ClockOf = Annotated[Clock, Depends(clock)]
SettingsOf = Annotated[Settings, Depends(settings)]


def caller(*permissions: Permission) -> Callable[..., Caller]:
    """Return a dependency that gives the Caller, whose key carries one of `permissions`.

    It raises Unauthorized (401) without a valid key and Forbidden (403) without the permission.
    """

    def authenticated(
        request: Request,
        _documented: Annotated[Any, Security(_scheme)],
        database: DatabaseOf,
    ) -> Caller:
        found = auth.authenticate(database, request.headers.get("authorization"))
        # Kept for the audit of a 404, which is written where errors are translated.
        request.state.caller = found
        take_request(database, found, request.app.state.settings)
        auth.require(found, permissions)
        _check_query(request)
        return found

    # The OpenAPI document tells it.
    authenticated.permissions = permissions  # type: ignore[attr-defined] # a function takes any
    return authenticated


def _check_query(request: Request) -> None:
    """Refuse what no database can hold, as strict_json does in bodies."""
    for name, value in request.query_params.multi_items():
        if "\x00" in value:
            raise InvalidInput.at(
                f"/query/{name}", "holds a NUL, which cannot be stored", "unstorable_character"
            )


def reach(caller: Caller, namespace: str) -> str:
    """Return the namespace of a path if it is a name and the key reaches it.

    Raises InvalidInput (`invalid_name`) for no name, NotFound for one beyond the key's list.
    """
    return auth.reach(caller, check_name(namespace, "/path/ns"))


def idempotency_key(
    idempotency_key: Annotated[
        str | None,
        Header(description="Repeat a request safely: the same key gets the first answer."),
    ] = None,
) -> str | None:
    """Return the Idempotency-Key of a request that writes, if it has one."""
    if idempotency_key is None:
        return None
    return check_receipt_id(idempotency_key, "/header/Idempotency-Key")


IdempotencyKey = Annotated[str | None, Depends(idempotency_key)]


def check_receipt_id(value: str, pointer: str) -> str:
    """Return a receipt's id, trimmed, if it has 1 to 200 characters; else InvalidInput."""
    trimmed = value.strip()
    if not 1 <= len(trimmed) <= _LONGEST_RECEIPT or not trimmed.isprintable():
        raise InvalidInput.at(
            pointer, "use 1 to 200 printable characters, not only blanks", "invalid_receipt"
        )
    return trimmed
