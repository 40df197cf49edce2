"""Time expressions in English and Chinese, resolved by code against their mention (D12)."""

from __future__ import annotations

from shared.domain.temporal.resolver import resolve
from shared.domain.temporal.values import Basis, Precision, TemporalStatus, TimeExpression

__all__ = ["Basis", "Precision", "TemporalStatus", "TimeExpression", "resolve"]
