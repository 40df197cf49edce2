"""Tell what a provider's refusal means: wait, try again, split the input, or give up.

Only the status and short identifiers of an error are kept: its prose may echo keys or texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final

from shared.clock import SystemClock
from shared.domain.jobs import FailureClass
from workers.models.port import ModelError

_IDENTIFIER = re.compile(r"^[A-Za-z0-9_.:-]{1,60}$")
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|maximum (?:context|input)|too (?:long|large|many tokens)"
    r"|exceed\w* (?:the )?(?:available )?context|reduce the length",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|quota|billing|balance", re.IGNORECASE)
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:(\d+)ms)?")
_RATE_PAUSE_S: Final = 10.0
_QUOTA_PAUSE_S: Final = 900.0
_LONGEST_PAUSE_S: Final = 21_600.0
_WAIT_STATUSES = frozenset({408, 409, 425, 429})


def error_of(status: int, headers: Mapping[str, str], body: Mapping[str, Any]) -> ModelError:
    """Return what a reply of a status that is not 200 means."""
    message, names = _told(body)
    detail = " ".join((f"HTTP {status}", *names))
    if status in (400, 413, 422) and _TOO_LONG.search(message):
        return ModelError(FailureClass.TRUNCATED, "input_too_long", detail)
    if status == 402 or (status == 429 and _QUOTA.search(message)):
        wait = retry_after_s(headers) or _QUOTA_PAUSE_S
        return ModelError(FailureClass.TRANSIENT, "quota", detail, retry_after_s=wait)
    if status == 429:
        wait = retry_after_s(headers) or _RATE_PAUSE_S
        return ModelError(FailureClass.TRANSIENT, "http_429", detail, retry_after_s=wait)
    if status >= 500 or status in _WAIT_STATUSES:
        return ModelError(
            FailureClass.TRANSIENT, f"http_{status}", detail, retry_after_s=retry_after_s(headers)
        )
    return ModelError(FailureClass.PERMANENT, f"http_{status}", detail)


def complaint_of(body: Mapping[str, Any]) -> str:
    """Return a provider's words in lower case, to look for a parameter's name; never logged."""
    return _told(body)[0].lower()


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a provider asks to wait, between 0.1 s and 6 h; None if it is silent.

    Read from Retry-After (seconds or a date), retry-after-ms, or the x-ratelimit-reset pair.
    """
    waits = (
        _milliseconds(headers.get("retry-after-ms")),
        _seconds_or_date(headers.get("retry-after")),
        _duration(headers.get("x-ratelimit-reset-requests")),
        _duration(headers.get("x-ratelimit-reset-tokens")),
    )
    known = next((wait for wait in waits if wait is not None), None)
    return None if known is None else min(_LONGEST_PAUSE_S, max(0.1, known))


def _told(body: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    error = body.get("error", body)
    if isinstance(error, str):
        return error, ()
    if not isinstance(error, Mapping):
        return "", ()
    parts = [str(error.get(key) or "") for key in ("type", "code", "param")]
    names = tuple(part for part in parts if _IDENTIFIER.match(part))
    message = error.get("message") or body.get("detail") or ""
    return " ".join((*parts, str(message))), names


def _milliseconds(value: str | None) -> float | None:
    try:
        return float(value) / 1000 if value else None
    except ValueError:
        return None


def _seconds_or_date(value: str | None) -> float | None:
    if not value:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    # The provider's own Date would be better, but is rarely there beside it.
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return (aware - SystemClock().now()).total_seconds()


def _duration(value: str | None) -> float | None:
    match = _DURATION.fullmatch(value.strip()) if value else None
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
