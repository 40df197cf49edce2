"""The OpenAPI document as clients need it: permissions, error codes, problem documents, headers.

FastAPI knows the bodies and parameters of a route; what a key needs and how a route can refuse
is put in here, from the route's dependencies and from `refuses(...)` at the route itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts

from shared.http.problems import MEDIA_TYPE
from shared.http.refusals import MARK, MEANINGS, refusals_of

_REQUEST_ID = {
    "description": "Finds the request in the logs; in a problem document as `request_id` too.",
    "required": True,
    "schema": {"type": "string"},
}
_RETRY_AFTER = {
    "description": "Seconds, where waiting helps.",
    "schema": {"type": "string", "pattern": "^[0-9]+$"},
}
_PATIENT = frozenset({"429", "503"})


class DocumentedApp(FastAPI):
    """FastAPI, whose document would give every answer of a route one media type."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document; made once."""
        if self.openapi_schema is None:
            document = super().openapi()
            permissions = _permissions(self)
            for path, operations in document["paths"].items():
                for method, operation in operations.items():
                    _tell_permissions(operation, permissions[f"{method.upper()} {path}"])
                    _tell_refusals(operation, method, path, document)
                    _tell_headers(operation)
            headers = document.setdefault("components", {}).setdefault("headers", {})
            headers |= {"RequestId": _REQUEST_ID, "RetryAfter": _RETRY_AFTER}
        return super().openapi()


def _permissions(app: FastAPI) -> dict[str, list[str] | None]:
    """Return the permissions of each operation, any of which suffices; None: no key is needed."""
    found: dict[str, list[str] | None] = {}
    for route in iter_route_contexts(app.routes):
        dependant = getattr(route, "dependant", None)
        if isinstance(dependant, Dependant):
            needed = next(_needed(dependant), None)
            found |= {f"{method} {route.path_format}": needed for method in route.methods or ()}
    return found


def _needed(dependant: Dependant) -> Iterator[list[str]]:
    permissions = getattr(dependant.call, "permissions", None)
    if permissions is not None:
        yield [permission.value for permission in permissions]
    for inner in dependant.dependencies:
        yield from _needed(inner)


def _tell_permissions(operation: dict[str, Any], permissions: list[str] | None) -> None:
    operation["x-permissions"] = permissions or []
    need = "No key is needed."
    if permissions is not None:
        need = f"Permission: {' or '.join(f'`{name}`' for name in permissions)}."
    operation["description"] = f"{operation.get('description', '')}\n\n{need}".strip()


def _tell_refusals(
    operation: dict[str, Any], method: str, path: str, document: dict[str, Any]
) -> None:
    """Replace what is said of errors by the statuses and codes that the route can answer."""
    refusals = refusals_of(operation, method, path, document["components"]["schemas"])
    operation.pop(MARK, None)
    kept = {status: told for status, told in operation["responses"].items() if status < "400"}
    for status, codes in sorted(refusals.items()):
        kept[status] = {
            "description": f"{MEANINGS[status]} {', '.join(f'`{code}`' for code in codes)}.",
            "content": {
                MEDIA_TYPE: {
                    "schema": {
                        "allOf": [
                            {"$ref": "#/components/schemas/Problem"},
                            {"properties": {"code": {"enum": codes}}},
                        ]
                    }
                }
            },
        }
    operation["responses"] = kept


def _tell_headers(operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        headers = response.setdefault("headers", {})
        headers["X-Request-Id"] = {"$ref": "#/components/headers/RequestId"}
        if status in _PATIENT:
            headers["Retry-After"] = {"$ref": "#/components/headers/RetryAfter"}
