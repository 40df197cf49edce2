"""Checking what a model claims about a time against the messages it cites (D12, D48).

The wording decides, never the model's arithmetic: a claimed date is replaced by what its
words give, and dropped when nothing in the cited messages gives it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from shared.domain.temporal.cancelling import says_cancelled
from shared.domain.temporal.doubting import is_doubted
from shared.domain.temporal.reading import expressions_in
from shared.domain.temporal.selection import as_date
from shared.domain.temporal.values import Basis, Precision, TemporalStatus, TimeExpression
from shared.domain.temporal.zones import local

Claimed = str | date | datetime | None

NOT_DERIVABLE = "not_derivable"
REPLACED = "replaced"
INVERTED = "inverted_range"
IMPOSSIBLE = "impossible_date"
FOREIGN_WORDING = "wording_not_in_source"
NOT_CANCELLED = "cancellation_not_in_source"


@dataclass(frozen=True, slots=True)
class TemporalClaim:
    """What a model said about when an event happened; dates as ISO text or values.

    `is_cancellation` says that the event's type is one: then `cancelled` needs no words.
    """

    happened_start: Claimed = None
    happened_end: Claimed = None
    precision: str | None = None
    basis: str | None = None
    original_text: str | None = None
    status: str | None = None
    is_cancellation: bool = False


@dataclass(frozen=True, slots=True)
class CitedText:
    """A cited message: its text, the aware instant and the zone in which it was said."""

    text: str
    mentioned_at: datetime
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class CheckedTime:
    """A time that code stands for. `notes` says what was dropped or replaced, and why.

    `zone` and `mentioned_at` are those of the message that gave the date, if one did.
    """

    start: date | datetime | None
    end: date | datetime | None
    precision: Precision
    basis: Basis
    status: TemporalStatus
    original_text: str | None
    notes: tuple[str, ...] = ()
    zone: str | None = None
    mentioned_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    expression: TimeExpression
    source: CitedText


def check_claim(claim: TemporalClaim, cited: Sequence[CitedText]) -> CheckedTime:
    """Return the time of an event as its cited messages give it.

    With an original wording, the expressions it holds in a cited message decide; without
    one, or when no message has it, the expression that equals or else overlaps the claimed
    dates. What is not derivable becomes `unknown` with the original words kept. A range
    said or claimed backwards loses its end. Plans stay plans, what began and lasts is
    ongoing, what is denied or doubted has not occurred, and `cancelled` stands when the
    event's type or a cited message says so.
    """
    notes: list[str] = []
    status = _claimed_status(claim, cited, notes)
    start, end = _parsed(claim.happened_start, notes), _parsed(claim.happened_end, notes)
    if start is not None and end is not None and end < start:
        notes.append(INVERTED)
        end = None
    folded = [CitedText(fold(c.text), c.mentioned_at, c.zone) for c in cited]
    wording = fold(claim.original_text or "")
    found = _by_wording(wording, folded)
    if found is None and wording:
        notes.append(FOREIGN_WORDING)
    if found is None:
        found = [] if start is None else _all(folded)
    chosen = _choose(found, start, end, needs_match=not _has(wording, folded))
    if chosen is None:
        return _unknown(claim, status, notes, dated=start is not None)
    return _checked(claim, status, chosen, start=start, notes=notes)


def fold(text: str) -> str:
    """Return text in NFKC with whitespace folded, as quotes are compared (D11)."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _parsed(value: Claimed, notes: list[str]) -> date | None:
    """Read a claimed date strictly; one that the calendar lacks is refused, not rolled over."""
    if value is None or isinstance(value, date):
        return None if value is None else as_date(value)
    written = value.strip()
    if not written:
        return None
    for pad in ("", "-01", "-01-01"):
        try:
            return as_date(datetime.fromisoformat(written + pad))
        except ValueError:
            continue
    notes.append(IMPOSSIBLE)
    return None


def _has(wording: str, cited: Iterable[CitedText]) -> bool:
    return bool(wording) and any(wording.lower() in c.text.lower() for c in cited)


def _by_wording(wording: str, cited: Iterable[CitedText]) -> list[_Found] | None:
    """Return the expressions that overlap the wording; None when no message has it."""
    if not wording:
        return None
    pattern = re.compile(re.escape(wording), re.IGNORECASE)
    found: list[_Found] = []
    seen = False
    for source in cited:
        places = [m.span() for m in pattern.finditer(source.text)]
        if not places:
            continue
        seen = True
        for expression in expressions_in(
            source.text, source.mentioned_at, source.zone, places=places
        ):
            left, right = expression.span
            if any(left < stop and right > begin for begin, stop in places):
                found.append(_Found(expression, source))
    return found if seen else None


def _all(cited: Iterable[CitedText]) -> list[_Found]:
    return [
        _Found(expression, source)
        for source in cited
        for expression in expressions_in(source.text, source.mentioned_at, source.zone)
    ]


def _choose(
    found: Sequence[_Found], start: date | None, end: date | None, *, needs_match: bool
) -> _Found | None:
    """Return the expression equal to the claim, else one that overlaps it, else the first."""
    dated = [f for f in found if f.expression.start is not None]
    if start is not None:
        for candidate in dated:
            first, last = _days(candidate.expression)
            if first == start and (end is None or last == end):
                return candidate
        for candidate in dated:
            first, last = _days(candidate.expression)
            if first <= (end or start) and last >= start:
                return candidate
    if needs_match:
        return None
    return dated[0] if dated else (found[0] if found else None)


def _days(expression: TimeExpression) -> tuple[date, date]:
    if expression.start is None:
        raise ValueError("the expression has no date")
    first = as_date(expression.start)
    return first, as_date(expression.end) if expression.end is not None else first


def _unknown(
    claim: TemporalClaim, status: TemporalStatus, notes: list[str], *, dated: bool
) -> CheckedTime:
    if dated:
        notes.append(NOT_DERIVABLE)
    return CheckedTime(
        start=None,
        end=None,
        precision=Precision.UNKNOWN,
        basis=Basis.UNKNOWN,
        status=status,
        original_text=claim.original_text or None,
        notes=tuple(dict.fromkeys(notes)),
    )


def _checked(
    claim: TemporalClaim,
    status: TemporalStatus,
    found: _Found,
    *,
    start: date | None,
    notes: list[str],
) -> CheckedTime:
    expression = found.expression
    if expression.note:
        notes.append(expression.note)
    if expression.start is None:
        notes.append(NOT_DERIVABLE)
    elif start is not None and (
        _days(expression)[0] != start or claim.precision != expression.precision
    ):
        notes.append(REPLACED)
    keep = claim.original_text and fold(claim.original_text).lower() in found.source.text.lower()
    return CheckedTime(
        start=expression.start,
        end=expression.end,
        precision=expression.precision,
        basis=expression.basis,
        status=_unless_doubted(_status(status, expression.status, ended=_has_ended(found)), found),
        original_text=claim.original_text if keep else expression.original_text,
        notes=tuple(dict.fromkeys(notes)),
        zone=found.source.zone,
        mentioned_at=found.source.mentioned_at,
    )


def _claimed_status(
    claim: TemporalClaim, cited: Iterable[CitedText], notes: list[str]
) -> TemporalStatus:
    said = (claim.status or "").strip().lower()
    try:
        status = TemporalStatus("cancelled" if said == "canceled" else said)
    except ValueError:
        return TemporalStatus.UNKNOWN
    if status is not TemporalStatus.CANCELLED or claim.is_cancellation:
        return status
    if any(says_cancelled(c.text) for c in cited):
        return status
    notes.append(NOT_CANCELLED)
    return TemporalStatus.UNKNOWN


def _unless_doubted(status: TemporalStatus, found: _Found) -> TemporalStatus:
    """What a speaker denies or only supposes is not known to have occurred."""
    if status is not TemporalStatus.OCCURRED:
        return status
    is_open = is_doubted(found.source.text, found.expression.span)
    return TemporalStatus.UNKNOWN if is_open else status


def _has_ended(found: _Found) -> bool:
    """Tell whether the days found lie before the mention: "for ten years", not "these ten"."""
    if found.expression.start is None:
        return False
    today = local(found.source.mentioned_at, found.source.zone).date()
    return _days(found.expression)[1] < today


def _status(claimed: TemporalStatus, derived: TemporalStatus, *, ended: bool) -> TemporalStatus:
    """Keep a claimed plan a plan; what lies ahead has not occurred, what lasts has not ended."""
    if claimed in (TemporalStatus.PLANNED, TemporalStatus.CANCELLED):
        return claimed
    if claimed is TemporalStatus.UNKNOWN:
        return derived
    if derived is TemporalStatus.PLANNED or (derived is TemporalStatus.ONGOING and ended):
        return derived
    return claimed
