"""What a candidate becomes when it is committed: its time, and the event draft (D47).

Nothing is resolved against the import's time: a time that is no real date goes into the
original words, and the precision is unknown.
"""

from __future__ import annotations

import calendar
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from shared.domain import event_types
from shared.domain.blocks import MAX_KEYPOINT, Summary
from shared.domain.events import Criticality, EventDraft, EventTime, Quote, Scope
from shared.domain.external_memory import Candidate, CandidateTime, ClaimedBasis
from shared.domain.provenance import check_quotes
from shared.domain.turns import Message

_DAY = re.compile(r"^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$")
_INSTANT = re.compile(
    r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$"
)
_OFFSET = re.compile(r"([+-]\d{2}):?(\d{2})$")
_EXACTNESS = ("instant", "day", "month", "year")
# A year's margin to the ends of the calendar: there, other zones have no time to show.
_YEARS = range(2, 9999)
_ORIGINAL = 400
_TITLE = 80
_SUMMARY = 500
_KEYPOINTS = 8
IMPORT_TAG: Final = "external-memory-import"
"""Marks the block that keeps the text of an import."""


@dataclass(frozen=True, slots=True)
class _Span:
    start: date | datetime
    end: date | datetime
    precision: str


def preview_time(temporal: CandidateTime | None) -> EventTime:
    """Return the event time of a candidate's words.

    `mentioned_at` is the candidate's own, else None. A start that is no real date makes the
    precision unknown and moves, with its end, into the original words; an end that is no real
    date or lies before the start moves there alone.
    """
    if temporal is None:
        return EventTime(mentioned_at=None)
    mentioned_at, zone = _mention(temporal.mentioned_at)
    start = _span(temporal.happened_start)
    end = _span(temporal.happened_end)
    if start is None:
        unread = (temporal.happened_start, temporal.happened_end)
    else:
        is_odd = end is None or _is_before(end.end, start.start)
        unread = (None, temporal.happened_end if is_odd else None)
        end = None if is_odd else end
    return EventTime(
        mentioned_at=mentioned_at,
        zone=zone,
        happened_start=start.start if start else None,
        happened_end=(end or start).end if start else None,
        precision=_precision(temporal, start, end),
        basis=_basis(temporal, start),
        status=temporal.status.value if temporal.status else "unknown",
        original_text=_words(temporal.original_text, unread),
    )


def draft_of(candidate: Candidate, source: Message) -> EventDraft:
    """Return the draft of a candidate, citing the message that holds the import's text.

    Quotes that do not stand verbatim in that text, plain or as JSON writes them, are left out.
    """
    temporal = candidate.temporal
    proposed = candidate.criticality or Criticality.ROUTINE
    return EventDraft(
        title=candidate.title,
        summary=candidate.summary,
        source_message_ids=(source.id,),
        time=preview_time(temporal),
        narrative=candidate.narrative,
        tags=candidate.tags,
        quotes=tuple(
            Quote(source.id, quote) for quote in candidate.quotes if stands_in(quote, source)
        ),
        scope=candidate.scope or Scope.USER,
        criticality=event_types.raised(proposed, candidate.category),
        category=candidate.category.value if candidate.category else None,
        event_type=event_types.event_type_of(temporal.event_type if temporal else None),
        participants=(temporal.participants or ()) if temporal else (),
    )


def import_summary(text: str) -> Summary:
    """Return the head of the block that keeps an import's text, made by rule, without a model."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return Summary(
        title=(lines[0] if lines else "Imported memory")[:_TITLE],
        tags=(IMPORT_TAG,),
        summary=" ".join(text.split())[:_SUMMARY],
        keypoints=tuple(line[:MAX_KEYPOINT] for line in lines[:_KEYPOINTS]),
        should_extract=False,
    )


def stands_in(quote: str, source: Message) -> bool:
    """Tell whether words stand in the text of an import, plain or as JSON writes them."""
    written = (
        quote,
        *(json.dumps(quote, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True)),
    )
    return any(check_quotes([(None, form)], (source,)).verbatim for form in written)


def _mention(text: str | None) -> tuple[datetime | None, str]:
    span = _span(text)
    if span is None or text is None:
        return None, "UTC"
    if not isinstance(span.start, datetime):
        return datetime(span.start.year, span.start.month, span.start.day, tzinfo=UTC), "UTC"
    offset = _OFFSET.search(text.strip())
    return span.start, f"{offset.group(1)}:{offset.group(2)}" if offset else "UTC"


def _span(text: str | None) -> _Span | None:
    """Return the days or the instant that an ISO text names; None where it is no real date.

    A clock time without an offset is no instant; only its day is certain.
    """
    if text is None:
        return None
    try:
        match = _DAY.match(text.strip())
        if match is not None:
            return _calendar_span(*match.groups())
        instant = _INSTANT.match(text.strip())
        if instant is None or int(text.strip()[:4]) not in _YEARS:
            return None
        moment = datetime.fromisoformat(text.strip().replace(" ", "T"))
    except (ValueError, OverflowError):
        return None
    if instant.group(1) is None:
        return _Span(moment.date(), moment.date(), "day")
    return _Span(moment.astimezone(UTC), moment.astimezone(UTC), "instant")


def _calendar_span(year: str, month: str | None, day: str | None) -> _Span | None:
    if int(year) not in _YEARS:
        return None
    if month is None:
        return _Span(date(int(year), 1, 1), date(int(year), 12, 31), "year")
    if day is None:
        last = calendar.monthrange(int(year), int(month))[1]
        first = date(int(year), int(month), 1)
        return _Span(first, first.replace(day=last), "month")
    one = date(int(year), int(month), int(day))
    return _Span(one, one, "day")


def _precision(temporal: CandidateTime, start: _Span | None, end: _Span | None) -> str:
    """Return what the times themselves allow; a candidate may only say that it is less exact."""
    if start is None:
        return "unknown"
    found = start.precision if end is None or end == start else "range"
    claimed = temporal.precision.value if temporal.precision else found
    if found not in _EXACTNESS or claimed not in _EXACTNESS:
        return found
    return max(found, claimed, key=_EXACTNESS.index)


def _basis(temporal: CandidateTime, start: _Span | None) -> str:
    if start is None:
        return "unknown"
    # An event knows explicit and relative times; what was inferred was not said so.
    if temporal.basis is ClaimedBasis.INFERRED:
        return "relative"
    return temporal.basis.value if temporal.basis else "explicit"


def _words(original: str | None, unread: tuple[str | None, str | None]) -> str | None:
    return "; ".join(_unique_words(original, unread))[:_ORIGINAL] or None


def _unique_words(original: str | None, unread: tuple[str | None, str | None]) -> Iterator[str]:
    if original:
        yield original
    for text in dict.fromkeys(unread):
        if text and text not in (original or ""):
            yield text


def _is_before(one: date | datetime, other: date | datetime) -> bool:
    if isinstance(one, datetime) and isinstance(other, datetime):
        return one < other
    return _day(one) < _day(other)


def _day(value: date | datetime) -> date:
    return value.date() if isinstance(value, datetime) else value
