"""How long a provider asks to wait, wherever it says so: headers, dates, or the error's body.

All waits are seconds from `now`; nothing here reads a clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

LONGEST_WAIT_S: Final = 518_400.0
"""Six days: below the longest wait of a job by default, so that it asks once more before it dies.

A header beyond it is taken for a mistake and a reset beyond it is looked for again then.
"""

_SHORTEST_WAIT_S: Final = 0.1
_EPOCH_FROM: Final = 1_000_000_000.0
_MILLISECONDS_FROM: Final = 1_000_000_000_000.0
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?")
_RESET_HEADERS: Final = ("requests", "tokens")
_BODY_KEYS: Final = ("resets_at", "reset_at", "resetsAt", "resets_in_seconds", "retry_after")


def told_wait_s(
    headers: Mapping[str, str], body: Mapping[str, Any], *, now: datetime
) -> float | None:
    """Return the seconds until the provider says to come back, from 0.1 s to 6 days, or None.

    In this order: the body's reset instant, retry-after-ms, Retry-After (seconds or a date),
    then the x-ratelimit-reset headers of those limits whose `remaining` is used up; where no
    `remaining` is told, the longest reset holds.
    """
    known = _of_body(body, now)
    if known is None:
        known = _milliseconds(headers.get("retry-after-ms"))
    if known is None:
        known = _seconds_or_date(headers.get("retry-after"), _sent_at(headers, now))
    if known is None:
        known = _of_reset_headers(headers, now)
    return None if known is None else min(LONGEST_WAIT_S, max(_SHORTEST_WAIT_S, known))


def _of_body(body: Mapping[str, Any], now: datetime) -> float | None:
    error = body.get("error")
    holders = [one for one in (error, body) if isinstance(one, Mapping)]
    values = [holder[key] for holder in holders for key in _BODY_KEYS if key in holder]
    waits = (_instant_or_seconds(value, now) for value in values)
    return next((wait for wait in waits if wait is not None), None)


def _instant_or_seconds(value: object, now: datetime) -> float | None:
    """Read an ISO instant, a Unix time in seconds or milliseconds, or a number of seconds."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        number = _number(value)
        if number is None:
            return _until(_iso(value), now)
        value = number
    if not isinstance(value, int | float):
        return None
    if value >= _MILLISECONDS_FROM:
        return value / 1000 - now.timestamp()
    return value - now.timestamp() if value >= _EPOCH_FROM else float(value)


def _of_reset_headers(headers: Mapping[str, str], now: datetime) -> float | None:
    used_up: list[float] = []
    open_ended: list[float] = []
    for limit in _RESET_HEADERS:
        told = headers.get(f"x-ratelimit-reset-{limit}")
        wait = _duration(told)
        if wait is None:
            wait = _instant_or_seconds(told, now)
        if wait is None:
            continue
        remaining = _number(headers.get(f"x-ratelimit-remaining-{limit}"))
        if remaining == 0:
            used_up.append(wait)
        elif remaining is None:
            open_ended.append(wait)
    waits = used_up or open_ended
    if not waits and (alone := headers.get("x-ratelimit-reset")):
        return _instant_or_seconds(alone, now)
    return max(waits, default=None)


def _milliseconds(value: str | None) -> float | None:
    number = _number(value)
    return None if number is None else number / 1000


def _seconds_or_date(value: str | None, sent_at: datetime) -> float | None:
    number = _number(value)
    if number is not None:
        return number
    return _until(_http_date(value), sent_at)


def _sent_at(headers: Mapping[str, str], now: datetime) -> datetime:
    """Return the provider's own idea of now, so that a skewed clock here does no harm."""
    return _http_date(headers.get("date")) or now


def _http_date(value: str | None) -> datetime | None:
    try:
        at = parsedate_to_datetime(value) if value else None
    except (TypeError, ValueError):
        return None
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def _iso(value: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _until(at: datetime | None, now: datetime) -> float | None:
    return None if at is None else (at - now).total_seconds()


def _number(value: str | None) -> float | None:
    """Return a plain decimal number; words such as `inf` and `nan` are none."""
    return float(value) if value and re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", value) else None


def _duration(value: str | None) -> float | None:
    match = _DURATION.fullmatch(value.strip()) if value else None
    if match is None or not any(match.groups()):
        return None
    try:
        days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    except ValueError:  # several dots
        return None
    return days * 86_400 + hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
