"""Dates written in digits, in either language: ISO, year first, and day or month first.

Digits whose order cannot be told (03/04/2026) and impossible days give no date.
"""

from __future__ import annotations

import re
from datetime import date, datetime

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal.rules import Atom, Context, Grain, Rule
from shared.domain.temporal.values import Basis, Interval, Precision

IMPOSSIBLE = "impossible_date"
AMBIGUOUS = "ambiguous_order"

_BEFORE = r"(?<![\w/.:#$€£¥@-])(?<!\w,)"
_AFTER = r"(?![\w/%:]|[.,-]\d|-\w)"
_ISO = re.compile(
    _BEFORE + r"(?P<y>[12]\d{3})-(?P<m>\d{2})-(?P<d>\d{2})"
    r"(?:[T ](?P<clock>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(?P<zone>\s?Z|[+-]\d{2}:?\d{2})?)?"
    r"(?![\d/-])",
    re.IGNORECASE,
)
_ISO_MONTH = re.compile(
    _BEFORE + r"(?P<y>(?:19|20)\d{2})-(?P<m>0[1-9]|1[0-2])(?![\w/:-])(?!\.\d)(?!\s+season)"
)
_YEAR_FIRST = re.compile(
    _BEFORE + r"(?P<y>[12]\d{3})(?P<s>[/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})" + _AFTER
)
_YEAR_LAST = re.compile(
    _BEFORE + r"(?P<a>\d{1,2})(?P<s>[/.-])(?P<b>\d{1,2})(?P=s)(?P<y>(?:19|20)\d{2})" + _AFTER
)
_YEAR_SHORT = re.compile(_BEFORE + r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{2})" + _AFTER)


def day_atom(match: re.Match[str], year: int, month: int, day: int) -> Atom:
    """Return a fully stated day; an impossible one is refused, never rolled over (D48)."""
    try:
        interval = cal.day(date(year, month, day))
    except ValueError:
        return refused(match, IMPOSSIBLE)
    return Atom(match.start(), match.end(), interval, grain=Grain.DAY, basis=Basis.EXPLICIT)


def refused(match: re.Match[str], note: str) -> Atom:
    """Return the words of a match without a date, and why."""
    return Atom(match.start(), match.end(), basis=Basis.UNKNOWN, note=note)


def _iso(match: re.Match[str], ctx: Context) -> Atom:
    atom = day_atom(match, int(match["y"]), int(match["m"]), int(match["d"]))
    if match["clock"] is None or atom.interval is None:
        return atom
    written = f"{match['y']}-{match['m']}-{match['d']}T{match['clock']}"
    try:
        at = datetime.fromisoformat(written + (match["zone"] or "").strip().upper())
    except ValueError:
        return refused(match, IMPOSSIBLE)
    zone = ctx.at.tzinfo
    at = at.replace(tzinfo=zone) if at.tzinfo is None else at.astimezone(zone)
    return Atom(
        match.start(),
        match.end(),
        Interval(at, at, Precision.INSTANT),
        basis=Basis.EXPLICIT,
    )


def _iso_month(match: re.Match[str], _ctx: Context) -> Atom:
    return Atom(
        match.start(),
        match.end(),
        cal.month(int(match["y"]), int(match["m"])),
        grain=Grain.MONTH,
        basis=Basis.EXPLICIT,
    )


def _year_first(match: re.Match[str], _ctx: Context) -> Atom:
    return day_atom(match, int(match["y"]), int(match["m"]), int(match["d"]))


def _year_last(match: re.Match[str], _ctx: Context) -> Atom:
    first, second = int(match["a"]), int(match["b"])
    year = int(match["y"]) + (2000 if len(match["y"]) == 2 else 0)
    if first == second or second > 12:
        return day_atom(match, year, first, second)
    if first > 12:
        return day_atom(match, year, second, first)
    return refused(match, AMBIGUOUS)


RULES = (
    Rule(_ISO, frozenset(), _iso),
    Rule(_ISO_MONTH, frozenset(), _iso_month),
    Rule(_YEAR_FIRST, frozenset(), _year_first),
    Rule(_YEAR_LAST, frozenset(), _year_last),
    Rule(_YEAR_SHORT, frozenset(), _year_last),
)
