"""Tell what a provider's refusal means: wait, try again, split the input, or give up.

Only the status and short identifiers of an error are kept: its prose may echo keys or texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from shared.domain.jobs import FailureClass
from workers.models.port import ModelError
from workers.models.waits import told_wait_s

QUOTA: Final = "quota"
RATE_LIMITED: Final = "http_429"

_IDENTIFIER = re.compile(r"^[a-z][a-z0-9_.:]{1,47}$")
"""A word like `context_length_exceeded`; what could be a key (capitals, dashes) is not kept."""

_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|maximum (?:context|input)|too (?:long|large|many tokens)"
    r"|exceed\w* (?:the )?(?:available )?context|reduce the length",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"quota|billing|balance|credit", re.IGNORECASE)
_REFUSED = re.compile(r"content[_ ](?:policy|filter)|moderation|safety", re.IGNORECASE)
_RATE_PAUSE_S: Final = 10.0
_QUOTA_PAUSE_S: Final = 900.0
_NO_STATUS: Final = 502
_WAIT_STATUSES = frozenset({408, 409, 425, 429})


def error_of(
    status: int, headers: Mapping[str, str], body: Mapping[str, Any], *, now: datetime
) -> ModelError:
    """Return what a reply without an answer means.

    A status of 200 with an error in its body counts as the status that the body names, else
    as 502.
    """
    if status == 200:
        status = _status_within(body)
    message, names = _told(body)
    detail = " ".join((f"HTTP {status}", *names))
    if status in (400, 413, 422) and _TOO_LONG.search(message):
        return ModelError(FailureClass.TRUNCATED, "input_too_long", detail)
    if status in (400, 403) and _REFUSED.search(message):
        return ModelError(FailureClass.REFUSED, "refused", detail)
    wait = told_wait_s(headers, body, now=now)
    if status == 402 or (status in (403, 429) and _is_quota(message, names)):
        return _limit(QUOTA, detail, wait or _QUOTA_PAUSE_S)
    if status == 429:
        return _limit(RATE_LIMITED, detail, wait or _RATE_PAUSE_S)
    if status >= 500 or status in _WAIT_STATUSES:
        return ModelError(FailureClass.TRANSIENT, f"http_{status}", detail, retry_after_s=wait)
    return ModelError(FailureClass.PERMANENT, f"http_{status}", detail)


def is_limit(error: ModelError) -> bool:
    """Tell whether the provider asks everybody to wait, not only this call."""
    return error.code in (QUOTA, RATE_LIMITED) and error.retry_after_s is not None


def complaint_of(body: Mapping[str, Any]) -> str:
    """Return a provider's words in lower case, to look for a parameter's name; never logged."""
    return _told(body)[0].lower()


def _is_quota(message: str, names: tuple[str, ...]) -> bool:
    """Trust the error's own name first: the prose of a rate limit may well speak of billing."""
    if any("rate_limit" in name for name in names):
        return False
    return _QUOTA.search(message) is not None


def _limit(code: str, detail: str, wait_s: float) -> ModelError:
    return ModelError(FailureClass.TRANSIENT, code, detail, retry_after_s=wait_s)


def _status_within(body: Mapping[str, Any]) -> int:
    error = body.get("error")
    holders = [one for one in (error, body) if isinstance(one, Mapping)]
    for value in (holder.get(key) for holder in holders for key in ("status", "code")):
        if str(value).isdecimal() and 400 <= int(str(value)) < 600:
            return int(str(value))
    return _NO_STATUS


def _told(body: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    error = body.get("error", body)
    if isinstance(error, str):
        return error, ()
    if not isinstance(error, Mapping):
        return "", ()
    parts = [str(error.get(key) or "") for key in ("type", "code", "param")]
    names = tuple(dict.fromkeys(part for part in parts if _IDENTIFIER.match(part)))
    message = error.get("message") or body.get("detail") or body.get("message") or ""
    return " ".join((*parts, str(message))), names
