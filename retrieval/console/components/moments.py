"""Instants as people read them: in the offset they were given in, never silently converted."""

from __future__ import annotations

from datetime import datetime

from nicegui import ui

from retrieval.console.components.text import text


def moment(value: str | None, *, with_time: bool = True) -> ui.element:
    """Show an RFC 3339 instant as a `time` element; what cannot be read is shown as it is."""
    if not value:
        return text("–", classes="sg-muted")
    shown = text(written(value, with_time=with_time), "time", classes="sg-moment")
    shown.props["datetime"] = value
    return shown


def written(value: str, *, with_time: bool = True) -> str:
    """Write an instant: 3 May 2026, 14:05 (+02:00); a date alone stays a date."""
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        return value
    day = f"{instant.day} {instant:%b %Y}"
    if not with_time or "T" not in value:
        return day
    offset = instant.strftime("%z")
    zone = "" if not offset else (" UTC" if offset == "+0000" else f" {offset[:3]}:{offset[3:]}")
    return f"{day}, {instant:%H:%M}{zone}"
