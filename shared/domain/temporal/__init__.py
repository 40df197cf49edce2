"""Time expressions in English and Chinese, resolved by code against their mention (D12)."""

from __future__ import annotations

from shared.domain.temporal.claims import CheckedTime, CitedText, TemporalClaim, check_claim
from shared.domain.temporal.rendering import (
    Window,
    expression_bounds,
    query_window,
    show_day,
    show_instant,
    show_time,
    utc_bounds,
)
from shared.domain.temporal.resolver import resolve
from shared.domain.temporal.values import Basis, Precision, TemporalStatus, TimeExpression

__all__ = [
    "Basis",
    "CheckedTime",
    "CitedText",
    "Precision",
    "TemporalClaim",
    "TemporalStatus",
    "TimeExpression",
    "Window",
    "check_claim",
    "expression_bounds",
    "query_window",
    "resolve",
    "show_day",
    "show_instant",
    "show_time",
    "utc_bounds",
]
