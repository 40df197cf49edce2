"""Errors as clients see them: RFC 9457 problem documents with stable codes, and no inner detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from pydantic_core import PydanticCustomError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from shared.errors import FieldError, InvalidInput, StrataGateError, Unauthorized
from shared.http.field_messages import field_message

MEDIA_TYPE = "application/problem+json"
TYPE_BASE = "urn:stratagate:error:"

# Codes of pydantic's findings that clients may rely on; every other one is `invalid_value`.
_FIELD_CODES = {"extra_forbidden": "unknown_field", "missing": "missing_field"}
_OWN = "stratagate."
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_HTTP_CODES = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}


class ProblemField(BaseModel):
    """One broken field."""

    pointer: str = Field(description="JSON pointer into the body, or /query/…, /path/…, /header/….")
    code: str
    message: str


class Problem(BaseModel):
    """What every error answer holds."""

    type: str
    title: str
    status: int
    code: str = Field(description="Stable; the reference of errors lists all of them.")
    detail: str
    request_id: str
    errors: list[ProblemField]
    retry_after: int | None = Field(default=None, description="Seconds, where waiting helps.")


def field_error(code: str, message: str) -> PydanticCustomError:
    """Return what a validator of a wire model raises to give its field a stable code."""
    return PydanticCustomError(_OWN + code, "{message}", {"message": message})


def problem_of(error: StrataGateError, request_id: str) -> dict[str, Any]:
    """Return the problem document of an error."""
    return _document(
        status=error.status,
        code=error.code,
        detail=error.detail,
        request_id=request_id,
        errors=error.errors,
        retry_after=error.retry_after_s,
    )


def problem_response(error: StrataGateError, request_id: str, **members: Any) -> JSONResponse:
    """Return the answer to a request that ended in this error, with further members if any."""
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(
        problem_of(error, request_id) | members,
        error.status,
        headers=headers,
        media_type=MEDIA_TYPE,
    )


def internal_response(request_id: str) -> JSONResponse:
    """Return the answer to a request that failed for a reason that is ours alone."""
    document = _document(
        status=500,
        code="internal_error",
        detail="something failed on our side; the request id finds it in our logs",
        request_id=request_id,
    )
    return JSONResponse(document, 500, media_type=MEDIA_TYPE)


async def on_validation_error(request: Request, error: Exception) -> JSONResponse:
    """Translate what FastAPI found wrong in a request."""
    if not isinstance(error, RequestValidationError):
        raise error
    return problem_response(invalid_of(error.errors()), request_id_of(request))


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """Translate what the router says: no such route, or not with this method."""
    if not isinstance(error, HTTPException):
        raise error
    status = error.status_code
    document = _document(
        status=status,
        code=_HTTP_CODES.get(status, "http_error"),
        detail="no such route" if status == 404 else HTTPStatus(status).phrase,
        request_id=request_id_of(request),
    )
    headers = dict(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods_of(request))
    return JSONResponse(document, status, headers=headers, media_type=MEDIA_TYPE)


def _methods_of(request: Request) -> list[str]:
    """Return the methods that the path is served with, over all its routes."""
    routes = request.app.routes
    return [
        method
        for method in _METHODS
        if any(r.matches({**request.scope, "method": method})[0] is Match.FULL for r in routes)
    ]


def invalid_of(findings: Sequence[Mapping[str, Any]], base: str = "") -> InvalidInput:
    """Return pydantic's findings as one InvalidInput naming each field, without its value."""
    fields = tuple(
        FieldError(
            pointer=base + _pointer(finding["loc"]),
            code=_field_code(finding["type"]),
            message=field_message(finding),
        )
        for finding in findings
    )
    first = fields[0]
    detail = f"{first.pointer}: {first.message}" if first.pointer else first.message
    return InvalidInput(detail, code=first.code, errors=fields)


def request_id_of(request: Request) -> str:
    """Return the id that the edge gave this request."""
    request_id: str = request.scope["state"]["request_id"]
    return request_id


def _field_code(kind: str) -> str:
    if kind.startswith(_OWN):
        return kind.removeprefix(_OWN)
    return _FIELD_CODES.get(kind, "invalid_value")


def _pointer(loc: Sequence[str | int]) -> str:
    parts = list(loc[1:] if loc and loc[0] == "body" else loc)
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _document(
    *,
    status: int,
    code: str,
    detail: str,
    request_id: str,
    errors: Sequence[FieldError] = (),
    retry_after: int | None = None,
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "type": TYPE_BASE + code,
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "request_id": request_id,
        "errors": [{"pointer": e.pointer, "code": e.code, "message": e.message} for e in errors],
    }
    if retry_after is not None:
        document["retry_after"] = retry_after
    return document
