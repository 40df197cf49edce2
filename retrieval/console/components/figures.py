"""Figures with their name: a row of them, and how numbers and ages are written."""

from __future__ import annotations

from nicegui import ui

from retrieval.console.components.text import text

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def figure(name: str, value: str, *, note: str = "", href: str = "") -> ui.element:
    """Show one figure under its name; with `href` the figure leads somewhere."""
    with ui.element("div").classes("sg-figure-card") as card:
        text(name, "p", classes="sg-figure-name")
        if href:
            ui.link(value, href).classes("sg-figure-value")
        else:
            text(value, "p", classes="sg-figure-value")
        if note:
            text(note, "p", classes="sg-hint")
    return card


def number(value: float | None) -> str:
    """Write a whole number with thin groups, or a dash for none."""
    return "–" if value is None else f"{value:,.0f}".replace(",", "\u202f")


def counted(amount: int, one: str, many: str = "") -> str:
    """Write an amount with its noun: 1 block, 2 blocks."""
    return f"{number(amount)} {one if amount == 1 else many or one + 's'}"


def age(seconds: float | None) -> str:
    """Write an age in its largest whole unit: 45 s, 3 min, 2 h, 5 days."""
    if seconds is None:
        return "–"
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR:.0f} h"
    return f"{seconds // _DAY:.0f} days"
