"""The day the graph is shown for: a slider from the first event until now, and a date beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import date, timedelta

from nicegui import ui

from retrieval.console.components.moments import written
from retrieval.console.components.text import text
from shared.clock import SystemClock

Changed = Callable[[date | None], Awaitable[None]]


class AsOf:
    """A slider whose right end is now. It tells of a day when it is released, not on the way."""

    def __init__(self, oldest: date, day: date | None, changed: Changed) -> None:
        self._oldest = oldest
        self._days = max(1, (SystemClock().now().date() - oldest).days)
        self._changed = changed
        position = self._days if day is None else self._position(day)
        with ui.element("div").classes("sg-as-of"):
            self._said = text(self._words(day), classes="sg-as-of-day").props("role=status")
            self._slider = ui.slider(min=0, max=self._days, step=1, value=position).props(
                'aria-label="As it was on" label-always=false'
            )
            self._slider.classes("sg-grow").on("change", self._released)
            self._slider.on_value_change(self._moved)
            self._date = ui.input(value=day.isoformat() if day else "").props(
                'type=date dense outlined aria-label="Day"'
            )
            self._date.on("change", self._typed)
            with ui.element("button").props("type=button").classes("sg-button") as button:
                text("Now")
            button.on("click", self._now)

    def _position(self, day: date) -> int:
        return min(self._days, max(0, (day - self._oldest).days))

    def _day(self) -> date | None:
        position = round(float(self._slider.value or 0))
        return None if position >= self._days else self._oldest + timedelta(days=position)

    def _moved(self) -> None:
        self._said.set_text(self._words(self._day()))

    async def _released(self) -> None:
        day = self._day()
        self._date.value = day.isoformat() if day else ""
        await self._changed(day)

    async def _typed(self) -> None:
        try:
            day = date.fromisoformat(self._date.value or "")
        except ValueError:
            return
        self._slider.value = self._position(day)
        self._said.set_text(self._words(day))
        await self._changed(day)

    async def _now(self) -> None:
        self._slider.value = self._days
        self._date.value = ""
        self._said.set_text(self._words(None))
        await self._changed(None)

    @staticmethod
    def _words(day: date | None) -> str:
        return "Now" if day is None else written(day.isoformat())
