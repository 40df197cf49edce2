"""A level of detail as a chip or on a slider: L0 to L5, its colour deepening with what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from retrieval.console.components.text import text


def level_chip(level: int, label: str = "") -> ui.element:
    """Show a level; `label` says in words what it holds."""
    chip = text(f"L{level}", classes=f"sg-level sg-level-{level}")
    if label:
        chip.props["title"] = label
    return chip


def level_slider(
    views: Mapping[int, Mapping[str, Any]], now: int, show: Callable[[int], None]
) -> ui.element:
    """Show a slider over the levels there are; `show` is told each level it moves to.

    The browser's own: keyboards and screen readers know it.
    """
    lowest, deepest = min(views), max(views)

    def place(level: int) -> None:
        # Its value as well: a change of its words would else put it back to where it began.
        slider.props["value"] = str(level)
        slider.props["aria-valuetext"] = views[level]["label"]

    def moved(event: GenericEventArguments) -> None:
        level = min(deepest, max(lowest, int(event.args)))
        place(level)
        show(level)

    with ui.element("div").classes("sg-slider") as shown:
        slider = ui.element("input").props(f"type=range min={lowest} max={deepest} step=1")
        slider.props["aria-label"] = "Level of detail"
        slider.on("input", moved, js_handler="(e) => emit(Number(e.target.value))")
        with ui.element("div").classes("sg-slider-ends").props("aria-hidden=true"):
            for level in range(lowest, deepest + 1):
                text(f"L{level}", classes="sg-strong" if level == now else "")
        place(now)
    return shown
