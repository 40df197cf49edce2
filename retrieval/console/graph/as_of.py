"""The day the graph is shown for: a slider from the first event until now, and a date beside it.

The slider is the browser's own, so that every key works: arrows, Home, End, Page Up and Down.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import date, timedelta

from nicegui import ui
from nicegui.events import GenericEventArguments

from retrieval.console.components.moments import written
from retrieval.console.components.text import text
from shared.clock import SystemClock

Changed = Callable[[date | None], Awaitable[None]]
_VALUE = "(event) => emit(event.target.value)"


class AsOf:
    """A slider whose right end is now. It tells of a day when it is released, not on the way."""

    def __init__(self, oldest: date, day: date | None, changed: Changed) -> None:
        self._oldest = oldest
        self._days = max(1, (SystemClock().now().date() - oldest).days)
        self._changed = changed
        with ui.element("div").classes("sg-as-of"):
            self._said = text(_words(day), classes="sg-as-of-day").props("role=status")
            self._slider = ui.element("input").props("type=range min=0 step=1")
            self._slider.classes("sg-range sg-grow")
            self._slider.props["max"] = str(self._days)
            self._slider.props["aria-label"] = "As it was on"
            self._slider.on("input", self._moved, js_handler=_VALUE)
            self._slider.on("change", self._released, js_handler=_VALUE)
            self._date = ui.input().props('type=date dense outlined aria-label="Day"')
            self._date.on("change", self._typed)
            with ui.element("button").props("type=button").classes("sg-button") as button:
                text("Now")
            button.on("click", self._now)
        self._show(day)

    def _moved(self, event: GenericEventArguments) -> None:
        self._said.set_text(_words(self._day(event)))

    async def _released(self, event: GenericEventArguments) -> None:
        day = self._day(event)
        self._show(day)
        await self._changed(day)

    async def _typed(self) -> None:
        try:
            day = date.fromisoformat(self._date.value or "")
        except ValueError:
            return
        self._show(day)
        await self._changed(day)

    async def _now(self) -> None:
        self._show(None)
        await self._changed(None)

    def _show(self, day: date | None) -> None:
        position = self._days if day is None else (day - self._oldest).days
        self._slider.props["value"] = str(min(self._days, max(0, position)))
        self._slider.props["aria-valuetext"] = _words(day)
        self._date.value = day.isoformat() if day else ""
        self._said.set_text(_words(day))

    def _day(self, event: GenericEventArguments) -> date | None:
        position = int(event.args)
        return None if position >= self._days else self._oldest + timedelta(days=position)


def _words(day: date | None) -> str:
    return "Now" if day is None else written(day.isoformat())
