"""Compare our time words with public libraries on the labelled expressions; prints a table.

Run `python -m tests.bench.temporal_comparison` where dateparser, timefhuman or JioNLP are
installed; those that are missing are named and left out.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from shared.domain.temporal import resolve

LABELLED = Path(__file__).parents[3] / "shared" / "data" / "temporal-dev.json"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a library found: where, and the days and precision it means."""

    begin: int
    end: int
    first: date
    last: date
    precision: str


Finder = Callable[[str, datetime], list[Item]]


@dataclass(slots=True)
class Tally:
    """What a finder got right on one language."""

    asked: int = 0
    exact: int = 0
    days: int = 0
    inside: int = 0
    traps: int = 0
    false_dates: int = 0
    seconds: float = 0.0


def ours() -> Finder:
    """Return our resolver as a finder."""

    def find(text: str, at: datetime) -> list[Item]:
        return [
            Item(*f.span, _day(f.start), _day(f.end or f.start), f.precision.value)
            for f in resolve(text, at.replace(tzinfo=UTC), "UTC")
            if f.start is not None
        ]

    return find


def dateparser_alone() -> Finder:
    """Return dateparser's own search; it gives points, so each is read as one day."""
    search_dates = importlib.import_module("dateparser.search").search_dates

    def find(text: str, at: datetime) -> list[Item]:
        settings = {"RELATIVE_BASE": at, "PREFER_DATES_FROM": "current_period"}
        found = search_dates(text, languages=_languages(text), settings=settings) or []
        items, reached = [], 0
        for words, moment in found:
            begin = text.find(words, reached)
            if begin < 0:
                continue
            reached = begin + len(words)
            items.append(Item(begin, reached, moment.date(), moment.date(), "day"))
        return items

    return find


def timefhuman_alone() -> Finder:
    """Return timefhuman's parser (English only); spans come as pairs of points."""
    package = importlib.import_module("timefhuman")

    def find(text: str, at: datetime) -> list[Item]:
        config = package.tfhConfig(now=at, return_matched_text=True)
        items = []
        for _words, (begin, end), value in package.timefhuman(text, config=config):
            points = [p for p in _flat(value) if isinstance(p, datetime)]
            if points:
                first, last = min(points).date(), max(points).date()
                items.append(Item(begin, end, first, last, "day" if first == last else "range"))
        return items

    return find


def jionlp_alone() -> Finder:
    """Return JioNLP's time extraction (Chinese only); its precision is that of its span."""
    with contextlib.redirect_stdout(io.StringIO()):
        extract = importlib.import_module("jionlp").ner.extract_time

    def find(text: str, at: datetime) -> list[Item]:
        items = []
        for found in extract(text, time_base=at.timestamp()):
            detail = found["detail"]
            if not isinstance(detail, dict) or detail["type"] not in ("time_point", "time_span"):
                continue
            try:
                start, end = (datetime.fromisoformat(t) for t in detail["time"])
            except ValueError:  # an open end, written as "inf"
                continue
            begin, stop = found["offset"]
            items.append(Item(begin, stop, start.date(), end.date(), _spanned(start, end)))
        return items

    return find


FINDERS: dict[str, tuple[Callable[[], Finder], frozenset[str]]] = {
    "StrataGate": (ours, frozenset({"en", "zh"})),
    "dateparser": (dateparser_alone, frozenset({"en", "zh"})),
    "timefhuman": (timefhuman_alone, frozenset({"en"})),
    "JioNLP": (jionlp_alone, frozenset({"zh"})),
}


def tally(find: Finder, cases: list[dict[str, Any]]) -> Tally:
    """Return what a finder gets right of some labelled cases."""
    result = Tally()
    for case in cases:
        begun = time.perf_counter()
        found = _attempt(find, case["text"], datetime.fromisoformat(case["timestamp"]))
        result.seconds += time.perf_counter() - begun
        if case["expression"] is None:
            result.traps += 1
            result.false_dates += bool(found)
            continue
        _count(result, case, found)
    return result


def _count(result: Tally, case: dict[str, Any], found: list[Item]) -> None:
    result.asked += 1
    begin = case["text"].index(case["expression"])
    end = begin + len(case["expression"])
    first, last = date.fromisoformat(case["start"]), date.fromisoformat(case["end"])
    overlapping = [i for i in found if i.begin < end and i.end > begin]
    if not overlapping:
        return
    item = overlapping[0]
    same_days = (item.first, item.last) == (first, last)
    result.exact += same_days and item.precision == case["precision"]
    result.days += same_days
    result.inside += first <= item.first <= last


def _attempt(find: Finder, text: str, at: datetime) -> list[Item]:
    """Count a library's crash on a text as finding nothing there, and say so."""
    try:
        return find(text, at)
    except Exception as failure:  # noqa: BLE001 - a library under test may raise anything
        sys.stderr.write(f"crashed on {text[:40]!r}: {failure!r}\n")
        return []


def _day(value: date) -> date:
    return date(value.year, value.month, value.day)


def _languages(text: str) -> list[str]:
    return ["zh"] if any("\u4e00" <= c <= "\u9fff" for c in text) else ["en"]


def _flat(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return [point for part in value for point in _flat(part)]
    return [value]


def _spanned(start: datetime, end: datetime) -> str:
    days = (end.date() - start.date()).days + 1
    if end - start < timedelta(hours=2):
        return "instant"
    if days == 1:
        return "day"
    if start.day == 1 and days in (28, 29, 30, 31) and (end + timedelta(days=1)).day == 1:
        return "month"
    return "year" if start.day == start.month == 1 and days in (365, 366) else "range"


def main() -> None:
    """Print one row a library and language, as Markdown."""
    if not LABELLED.exists():
        raise SystemExit(f"the labelled time expressions are not at {LABELLED}")
    cases = json.loads(LABELLED.read_text("utf-8"))["cases"]
    out = sys.stdout.write
    out("| library | language | exact | right days | start inside | false dates | ms a text |\n")
    out("|---|---|---|---|---|---|---|\n")
    for name, (load, languages) in FINDERS.items():
        try:
            find = load()
        except ImportError as missing:
            sys.stderr.write(f"{name} left out: {missing}\n")
            continue
        for language in sorted(languages):
            chosen = [c for c in cases if c["lang"] == language]
            t = tally(find, chosen)
            out(
                f"| {name} | {language} | {t.exact}/{t.asked} ({t.exact / t.asked:.0%}) | "
                f"{t.days}/{t.asked} | {t.inside}/{t.asked} | {t.false_dates}/{t.traps} | "
                f"{1000 * t.seconds / len(chosen):.2f} |\n"
            )


if __name__ == "__main__":
    main()
