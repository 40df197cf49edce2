"""How routes can refuse: every error code of the contract, its status, and which routes have it.

What follows from a route's shape (it has a body, a cursor, an id in its path) is worked out; the
rest is said at the route: `openapi_extra=refuses("batch_expired")`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

MARK = "x-refuses"
"""Where a route's own codes stand until the document is made."""

MEANINGS = {
    "401": "No valid key.",
    "403": "The key lacks the permission.",
    "404": "No such thing for this key.",
    "409": "Contradicts what is recorded.",
    "413": "The body is over its limit.",
    "415": "The body's type or encoding is not one that is taken.",
    "422": "A value breaks a rule; `errors` names it.",
    "429": "A rate or a quota of the tenant is used up; waiting helps.",
    "503": "A part is away; waiting helps.",
}

STATUS_OF: Mapping[str, str] = {
    code: status
    for status, codes in {
        "401": "unauthorized",
        "403": "forbidden",
        "404": "not_found unknown_batch unknown_tool",
        "409": "receipt_conflict batch_expired batch_recorded not_assessed not_adopted"
        " block_pending job_final job_not_retryable key_not_active import_not_ready"
        " confirmation_required stale_targets import_committed import_undone import_erased"
        " import_not_committed import_has_dependants namespace_not_empty bundle_erased"
        " export_not_ready reprocess_running shadow_incomplete stale_revision conflict_resolved"
        " conflict_closed stage_off version_dropped version_live",
        "413": "body_too_large bundle_too_large",
        "415": "unsupported_media_type unsupported_encoding",
        "422": "invalid_input invalid_value missing_field unknown_field malformed_json"
        " json_too_deep invalid_encoding unstorable_character number_out_of_range invalid_time"
        " naive_time unknown_zone inverted_window invalid_name reserved_name invalid_receipt"
        " wrong_id_type invalid_cursor no_human_message too_many_items result_too_large"
        " invalid_bundle unreadable_import unknown_candidate repeated_candidate target_required"
        " target_not_allowed illegal_target",
        "429": "rate_limited quota_turns quota_storage quota_jobs",
        "503": "unavailable busy not_ready",
    }.items()
    for code in codes.split()
}
"""The codes that routes of the document answer, with their statuses."""

_OF_KEYS = (
    "unauthorized",
    "forbidden",
    "unstorable_character",  # in the query, also where nothing is asked for there
    "rate_limited",
    "unavailable",
    "busy",
)
_OF_BODIES = (
    "body_too_large",
    "unsupported_media_type",
    "unsupported_encoding",
    "malformed_json",
    "json_too_deep",
    "invalid_encoding",
    "unstorable_character",
    "number_out_of_range",
)
_OF_FIELDS = ("invalid_input", "invalid_value", "missing_field", "unknown_field")
_OF_TIMES = ("invalid_time", "naive_time", "unknown_zone", "inverted_window")
_WRITING = frozenset({"post", "put", "patch", "delete"})
_NAMES = frozenset({"namespace", "namespaces", "thread_id", "ns", "thread"})
_TIMES = frozenset({"timezone", "from", "to", "at", "since", "occurred_at", "expires_at"})
_REFERENCE = "#/components/schemas/"


def refuses(*codes: str) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that can refuse with these codes as well."""
    unknown = [code for code in codes if code not in STATUS_OF]
    if unknown:
        raise ValueError(f"no such codes: {unknown}")
    return {MARK: list(codes)}


def refusals_of(
    operation: Mapping[str, Any], method: str, path: str, schemas: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Return the codes that an operation can answer, by status."""
    found: dict[str, list[str]] = {}
    for code in sorted({*operation.get(MARK, ()), *_by_shape(operation, method, path, schemas)}):
        found.setdefault(STATUS_OF[code], []).append(code)
    return found


def _by_shape(
    operation: Mapping[str, Any], method: str, path: str, schemas: Mapping[str, Any]
) -> Iterator[str]:
    asked = {parameter["name"] for parameter in operation.get("parameters", ())}
    in_path = set(re.findall(r"{(\w+)}", path))
    fields = set(_fields(operation.get("requestBody", {}), schemas, set()))
    if operation.get("security"):
        yield from _OF_KEYS
    if method in _WRITING:
        yield from _OF_BODIES
    if asked | fields:
        yield from _OF_FIELDS
    if in_path or "namespace" in asked | fields:
        yield "not_found"
    if (asked | fields) & _NAMES:
        yield from ("invalid_name", "reserved_name")
    if in_path - _NAMES or any(name.endswith("_id") for name in asked):
        yield "wrong_id_type"
    if "cursor" in asked:
        yield "invalid_cursor"
    if "Idempotency-Key" in asked or "idempotency-key" in asked or "receipt_id" in fields:
        yield from ("invalid_receipt", "receipt_conflict")
    if "receipt_ids" in fields:
        yield "invalid_receipt"
    if (asked | fields) & _TIMES:
        yield from _OF_TIMES


def _fields(part: Any, schemas: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """Yield the names of all fields of a body, however deep."""
    if isinstance(part, list):
        for item in part:
            yield from _fields(item, schemas, seen)
    elif isinstance(part, Mapping):
        yield from part.get("properties", {})
        name = str(part.get("$ref", "")).removeprefix(_REFERENCE)
        if name in schemas and name not in seen:
            seen.add(name)
            yield from _fields(schemas[name], schemas, seen)
        for inner in part.values():
            yield from _fields(inner, schemas, seen)
