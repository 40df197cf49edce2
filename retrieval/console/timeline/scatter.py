"""Two axes: when it happened, from left to right, and when it was said, from the ground up.

What was told on the day it happened lies on the line; plans lie right of it, memories left. Events
whose date is unknown have a lane of their own, at the height of the day they were said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from nicegui import ui

from retrieval.console.page_context import PageContext

_WIDTH, _HEIGHT = 1080, 300
_LANE = 92
_LEFT, _RIGHT, _TOP, _BOTTOM = 92, 40, 26, 40
_PLOT_X = _LEFT + _LANE + 14
_TICKS = 5
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Dot:
    """One event on the two axes; `happened` is None when its date is unknown."""

    event_id: str
    title: str
    status: str
    said: datetime
    happened: datetime | None


def show_scatter(page: PageContext, events: Sequence[dict[str, Any]], *, chosen: str) -> None:
    """Draw a page of events; each dot leads to its event."""
    dots = [dot for event in events if (dot := _dot(event)) is not None]
    if len(dots) < _FEWEST:
        return
    said = _span([dot.said for dot in dots])
    dated = [dot.happened for dot in dots if dot.happened is not None]
    happened = _span([*dated, *((said) if not dated else ())])
    parts = [
        _frame(said, happened),
        *(_linked(page, dot, said, happened, is_chosen=dot.event_id == chosen) for dot in dots),
    ]
    words = (
        f"{len(dots)} events by when they happened and when they were said; "
        f"{len(dots) - len(dated)} have no known date. The list below tells the same."
    )
    svg = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group" aria-label="{escape(words)}">'
        f"{''.join(parts)}</svg>"
    )
    ui.html(svg, sanitize=False).classes("sg-drawing sg-scatter")


def _dot(event: dict[str, Any]) -> Dot | None:
    times = event["temporal"]
    said = _instant(times["mentioned_at"]) or _instant(event["source_time"])
    if said is None:
        return None
    return Dot(
        event["event_id"],
        event["title"],
        event["status"],
        said,
        _instant(times["happened_start"] or times["happened_end"]),
    )


def _instant(value: str | None) -> datetime | None:
    if not value:
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _span(instants: Sequence[datetime]) -> tuple[datetime, datetime]:
    return min(instants), max(instants)


def _share(instant: datetime, span: tuple[datetime, datetime]) -> float:
    whole = (span[1] - span[0]).total_seconds()
    return 0.5 if whole <= 0 else (instant - span[0]).total_seconds() / whole


def _x(instant: datetime | None, span: tuple[datetime, datetime]) -> float:
    if instant is None:
        return _LEFT + _LANE / 2
    return _PLOT_X + 10 + (_WIDTH - _RIGHT - _PLOT_X - 20) * _share(instant, span)


def _y(instant: datetime, span: tuple[datetime, datetime]) -> float:
    return _HEIGHT - _BOTTOM - 10 - (_HEIGHT - _TOP - _BOTTOM - 20) * _share(instant, span)


def _frame(said: tuple[datetime, datetime], happened: tuple[datetime, datetime]) -> str:
    base = _HEIGHT - _BOTTOM
    parts = [
        f'<rect class="sg-lane" x="{_LEFT}" y="{_TOP}" width="{_LANE}" '
        f'height="{base - _TOP}" rx="6"/>',
        _text(_LEFT + _LANE / 2, base + 18, "no known date"),
        _text(_WIDTH - _RIGHT, _HEIGHT - 4, "happened →", anchor="end"),
        _text(_LEFT - 8, 12, "said ↑", anchor="end"),
    ]
    for number in range(_TICKS):
        share = number / (_TICKS - 1)
        at = happened[0] + (happened[1] - happened[0]) * share
        x = _x(at, happened)
        parts.append(f'<line class="sg-grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{base}"/>')
        parts.append(_text(x, base + 18, _day(at)))
    for number in range(3):
        at = said[0] + (said[1] - said[0]) * (number / 2)
        y = _y(at, said)
        parts.append(
            f'<line class="sg-grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(_text(_LEFT - 8, y + 4, _day(at), anchor="end"))
    first, last = max(said[0], happened[0]), min(said[1], happened[1])
    if first < last:
        parts.append(
            f'<line class="sg-diagonal" x1="{_x(first, happened):.1f}" y1="{_y(first, said):.1f}" '
            f'x2="{_x(last, happened):.1f}" y2="{_y(last, said):.1f}"/>'
        )
    return "".join(parts)


def _linked(
    page: PageContext,
    dot: Dot,
    said: tuple[datetime, datetime],
    happened: tuple[datetime, datetime],
    *,
    is_chosen: bool,
) -> str:
    kinds = f"sg-dot-{dot.status}" + (" sg-dot-chosen" if is_chosen else "")
    href = escape(f"{page.url(event=dot.event_id)}#{dot.event_id}", quote=True)
    when = "unknown date" if dot.happened is None else _day(dot.happened)
    title = escape(f"{dot.title}: happened {when}, said {_day(dot.said)}")
    return (
        f'<a href="{href}" class="{kinds}" aria-label="{title}"><title>{title}</title>'
        f'<circle cx="{_x(dot.happened, happened):.1f}" cy="{_y(dot.said, said):.1f}" '
        f'r="{8 if is_chosen else 6.5}"/></a>'
    )


def _text(x: float, y: float, said: str, *, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def _day(instant: datetime) -> str:
    return f"{instant.day} {instant:%b %Y}"
