"""The errors of StrataGate, drawn as one tree; the edges translate them to HTTP and exit codes.

StrataGateError
├── InvalidInput        422  a value breaks a rule; `pointer` names the field
├── NotFound            404  no such thing for this tenant; the id is never echoed
├── Conflict            409  a receipt, batch or state contradicts the request
├── Forbidden           403  the key lacks a permission
├── Unauthorized        401  no valid key
├── TooLarge            413  a body over its limit
├── WrongMediaType      415  a body that does not say it is JSON
├── TooMany             429  a rate or a quota of the tenant is used up; waiting helps
└── Unavailable         503  the database or another part is away; waiting helps
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One broken field: JSON pointer, stable code, and what to do about it."""

    pointer: str
    code: str
    message: str


class StrataGateError(Exception):
    """Root of all errors that a caller can see.

    `code` is stable and documented; `status` is its HTTP status; `detail` is for people.
    """

    status: ClassVar[int] = 500
    code: str = "internal_error"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        errors: tuple[FieldError, ...] = (),
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or type(self).code
        self.errors = errors
        self.retry_after_s = retry_after_s


class InvalidInput(StrataGateError):
    """A value breaks a rule of the contract."""

    status = 422
    code = "invalid_input"

    @classmethod
    def at(cls, pointer: str, message: str, code: str = "invalid_input") -> InvalidInput:
        """Name one field by its JSON pointer, with the remedy in the message."""
        field = FieldError(pointer=pointer, code=code, message=message)
        # The whole body has the empty pointer.
        detail = f"{pointer}: {message}" if pointer else message
        return cls(detail, code=code, errors=(field,))


class NotFound(StrataGateError):
    """Nothing of that id exists for this tenant."""

    status = 404
    code = "not_found"


class Conflict(StrataGateError):
    """The request contradicts what is already recorded."""

    status = 409
    code = "conflict"


class Forbidden(StrataGateError):
    """The key lacks the permission."""

    status = 403
    code = "forbidden"


class Unauthorized(StrataGateError):
    """No valid key came with the request."""

    status = 401
    code = "unauthorized"


class TooLarge(StrataGateError):
    """The body is over its limit."""

    status = 413
    code = "body_too_large"


class WrongMediaType(StrataGateError):
    """The body's Content-Type is not one that the route takes."""

    status = 415
    code = "unsupported_media_type"


class TooMany(StrataGateError):
    """A rate or a quota of the tenant is used up; nothing was stored."""

    status = 429
    code = "rate_limited"


class Unavailable(StrataGateError):
    """A part that the request needs is away; waiting helps."""

    status = 503
    code = "unavailable"
