"""Tell what an embedding endpoint's refusal means: wait, try again, shorten, or give up.

Only the status is kept: an error's prose may echo keys or texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from shared.domain.jobs import FailureClass
from shared.embeddings.port import EmbeddingError

INPUT_TOO_LONG: Final = "input_too_long"
REFUSED: Final = "refused"

_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|maximum (?:context|input|sequence)|too (?:long|large)"
    r"|too many tokens|exceed|must have less than|reduce the length",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"quota|billing|balance|credit", re.IGNORECASE)
_RATE_PAUSE_S: Final = 10.0
_QUOTA_PAUSE_S: Final = 900.0
_LONGEST_PAUSE_S: Final = 3_600.0
_WAIT_STATUSES: Final = frozenset({408, 409, 425, 429})
_NO_STATUS: Final = 502


def error_of(status: int, headers: Mapping[str, str], body: Mapping[str, Any]) -> EmbeddingError:
    """Return what a reply without vectors means; an error within a 200 counts as 502."""
    status = _NO_STATUS if status == 200 else status
    told = _told(body)
    detail = f"HTTP {status}"
    if status == 413 or (status in (400, 422) and _TOO_LONG.search(told)):
        return EmbeddingError(FailureClass.TRUNCATED, INPUT_TOO_LONG, detail)
    if status in (400, 422):
        return EmbeddingError(FailureClass.REFUSED, REFUSED, detail)
    wait_s = _told_wait_s(headers)
    if status == 402 or (status == 429 and _QUOTA.search(told)):
        return EmbeddingError(
            FailureClass.TRANSIENT, "quota", detail, retry_after_s=wait_s or _QUOTA_PAUSE_S
        )
    if status == 429:
        return EmbeddingError(
            FailureClass.TRANSIENT, "http_429", detail, retry_after_s=wait_s or _RATE_PAUSE_S
        )
    if status >= 500 or status in _WAIT_STATUSES:
        return EmbeddingError(
            FailureClass.TRANSIENT, f"http_{status}", detail, retry_after_s=wait_s
        )
    return EmbeddingError(FailureClass.PERMANENT, f"http_{status}", detail)


def _told(body: Mapping[str, Any]) -> str:
    error = body.get("error", body)
    if isinstance(error, Mapping):
        return " ".join(str(error.get(key) or "") for key in ("type", "code", "message", "detail"))
    return str(error)


def _told_wait_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that Retry-After names, at most an hour; a date counts as none."""
    value = headers.get("retry-after", "").strip()
    if not value.replace(".", "", 1).isdecimal():
        return None
    return min(_LONGEST_PAUSE_S, float(value)) or None
