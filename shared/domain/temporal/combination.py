"""Joining neighbouring atoms: a day and a clock time, a weekday in a week, both ends of a span.

A language supplies the words that may stand between; what they mean is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import rescheduling
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, select
from shared.domain.temporal.selection import first_day, last_day
from shared.domain.temporal.values import Basis, Interval, Precision


@dataclass(frozen=True, slots=True)
class Glue:
    """The text that may stand between two atoms, per way of joining them."""

    nest: re.Pattern[str]
    clock: re.Pattern[str]
    until: re.Pattern[str]
    offset: re.Pattern[str]


Joiner = Callable[[Atom, Atom, str, Context], Atom | None]


_WAITING = (Kind.OFFSET, Kind.PENDING)


def combine(found: list[Atom], glue: Glue, ctx: Context) -> list[Atom]:
    """Return the atoms of a text after joining neighbours until nothing joins any more.

    `found` holds all candidates, longest first. An offset that meets no date gives way to
    the shorter atoms that it covered: "last week in the country" is last week.
    """
    waiting = sum(a.kind in _WAITING for a in found)
    for _ in range(waiting + 1):
        chosen = select(found)
        joined = _joined_all([a for a in chosen if a.kind is not Kind.VETO], glue, ctx)
        lonely = {id(a) for a in joined if a.kind in _WAITING}
        if not lonely:
            break
        found = [a for a in found if id(a) not in lonely]
    return [a for a in joined if a.kind is Kind.TIME]


def _joined_all(atoms: list[Atom], glue: Glue, ctx: Context) -> list[Atom]:
    # Clocks bind to their day before days bind into spans.
    for pattern, joiner in (
        (glue.nest, _nested),
        (glue.clock, _timed),
        (glue.offset, _shifted),
        (glue.until, _spanned),
    ):
        atoms = _pass(atoms, pattern, joiner, ctx)
    return atoms


def _pass(atoms: list[Atom], pattern: re.Pattern[str], joiner: Joiner, ctx: Context) -> list[Atom]:
    out: list[Atom] = []
    for atom in atoms:
        current = atom
        while out:
            between = ctx.text[out[-1].end : current.start]
            joined = None
            if len(between) < 24 and pattern.fullmatch(between):
                joined = _joined_safely(joiner, out[-1], current, ctx)
            if joined is None:
                break
            out.pop()
            current = joined
        out.append(current)
    return out


def _joined_safely(joiner: Joiner, left: Atom, right: Atom, ctx: Context) -> Atom | None:
    try:
        return joiner(left, right, ctx.text[left.end : right.start], ctx)
    except (ValueError, OverflowError):
        # The joined date lies outside the calendar's years: its words stay, without a date.
        return Atom(left.start, right.end, basis=Basis.UNKNOWN, note="out_of_calendar")


def _nested(left: Atom, right: Atom, _between: str, _ctx: Context) -> Atom | None:
    for inner, outer in ((left, right), (right, left)):
        if outer.interval is None or outer.kind is not Kind.TIME:
            continue
        for grain, resolve in inner.within:
            if grain is outer.grain and not (
                grain is Grain.DAY and resolve(outer.interval) is None
            ):
                return replace(
                    inner,
                    kind=Kind.TIME,
                    start=left.start,
                    end=right.end,
                    interval=resolve(outer.interval),
                    basis=outer.basis,
                    within=(),
                    ongoing=left.ongoing or right.ongoing,
                )
    return None


def _timed(left: Atom, right: Atom, _between: str, ctx: Context) -> Atom | None:
    for day, clock in ((left, right), (right, left)):
        if clock.kind is not Kind.CLOCK or clock.clock is None or day.grain is not Grain.DAY:
            continue
        if day.interval is None or day.interval.precision is not Precision.DAY:
            return None
        hour, minute = _hour(clock, day.part or clock.part)
        at = datetime.combine(first_day(day.interval), time(hour, minute), ctx.at.tzinfo)
        whole = replace(day, start=left.start, end=right.end, within=())
        if at.astimezone(UTC).astimezone(at.tzinfo).replace(fold=0) != at:
            # The zone's clock skipped that time: the day stands, the time is refused.
            return replace(whole, note="impossible_time")
        return replace(whole, interval=Interval(at, at, Precision.INSTANT))
    return None


def _hour(clock: Atom, part: str) -> tuple[int, int]:
    """Settle a bare hour: by its part of day, else within 7 in the morning to 7 at night."""
    if clock.clock is None:
        raise ValueError("a clock atom has a time")
    hour, minute = clock.clock
    if clock.half_known or hour > 12:
        return hour, minute
    if part == "morning":
        return hour % 12, minute
    if part in ("afternoon", "evening"):
        return hour % 12 + 12, minute
    if part == "night":
        return (hour % 12 + 12, minute) if 5 <= hour < 12 else (hour % 12, minute)
    return (hour + 12, minute) if hour < 7 else (hour, minute)


def _shifted(left: Atom, right: Atom, _between: str, _ctx: Context) -> Atom | None:
    if left.kind is not Kind.OFFSET or left.apply is None or right.kind is not Kind.TIME:
        return None
    interval = None if right.interval is None else left.apply(right.interval)
    return replace(
        right,
        start=left.start,
        end=right.end,
        interval=interval,
        within=(),
        grain=left.grain,
        part=left.part,
    )


def _spanned(left: Atom, right: Atom, between: str, ctx: Context) -> Atom | None:
    if left.kind is not Kind.TIME or right.kind is not Kind.TIME:
        return None
    if not _opens_span(ctx.text[: left.start], between) or rescheduling.leaves(
        ctx.text, left.start
    ):
        return None
    opened = _year_from(left, right)
    closed = _closing_of(opened, right)
    merged = replace(left, interval=opened, start=left.start, end=right.end, within=())
    if opened is None or closed is None:
        return replace(merged, interval=None, basis=Basis.UNKNOWN)
    basis = left.basis if left.basis is right.basis else Basis.RELATIVE
    if right.basis is Basis.EXPLICIT and left.within:
        basis = Basis.EXPLICIT
    return replace(
        merged,
        interval=joined(opened, closed),
        basis=basis,
        grain=Grain.OTHER,
        note="inverted_range" if _inverted(opened, closed) else "",
    )


def _closing_of(opened: Interval | None, right: Atom) -> Interval | None:
    """Read a bare second end beside the first: "Monday to Wednesday" is of one week."""
    if opened is None:
        return right.interval
    begin = first_day(opened)
    for grain, resolve in right.within:
        for ahead in (0, 1):
            if grain is Grain.WEEK:
                outer = cal.week_of(begin + timedelta(weeks=ahead))
            elif grain is Grain.MONTH:
                outer = cal.month_of(cal.shift_months(begin, ahead))
            elif grain is Grain.YEAR:
                outer = cal.year(begin.year + ahead)
            else:
                continue
            found = resolve(outer)
            if found is not None and last_day(found) >= begin:
                return found
    return right.interval


def _year_from(left: Atom, right: Atom) -> Interval | None:
    """Give the first end the year that only the second one states."""
    if right.basis is Basis.EXPLICIT and left.basis is Basis.RELATIVE and right.interval:
        for grain, resolve in left.within:
            if grain is Grain.YEAR:
                return resolve(cal.year(first_day(right.interval).year))
    return left.interval


def joined(opened: Interval, closed: Interval) -> Interval:
    """Return the range from the first day of one to the last of the other.

    A range said backwards loses its end.
    """
    if _inverted(opened, closed):
        return Interval(opened.start, None, opened.precision)
    if Precision.INSTANT in (opened.precision, closed.precision):
        start, end = opened.start, closed.end
        if isinstance(start, datetime) and isinstance(end, datetime):
            return Interval(start, end, Precision.RANGE)
    return cal.span(first_day(opened), last_day(closed))


def _inverted(opened: Interval, closed: Interval) -> bool:
    if isinstance(opened.start, datetime) and isinstance(closed.end, datetime):
        return closed.end < opened.start
    return last_day(closed) < first_day(opened)


_AND = re.compile(r"\s*(?:and|&|和|跟|与)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:between|在|从)\s*(?:the\s+)?$", re.IGNORECASE)


def _opens_span(before: str, between: str) -> bool:
    """Tell whether "A and B" is one span: only after "between"."""
    if _AND.fullmatch(between):
        return bool(_BETWEEN.search(before))
    return True
