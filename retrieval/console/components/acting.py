"""What a click does: ask the API, and say how it went."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.states import notify_done, notify_problem
from retrieval.console.components.text import text


async def told(act: Callable[[], Awaitable[Any]], *, done: str = "") -> bool:
    """Do something and say how it went; True when it was done. Without `done` the page says it."""
    try:
        await act()
    except ApiProblem as problem:
        notify_problem(problem)
        return False
    if done:
        notify_done(done)
    return True


def button(
    said: str, act: Callable[[], Awaitable[object]], *, name: str = "", is_main: bool = False
) -> ui.element:
    """Show a button that can be pressed once at a time; `name` says more to screen readers."""

    async def press() -> None:
        shown.props("disabled")
        try:
            await act()
        finally:
            if not shown.is_deleted:
                shown.props(remove="disabled")

    with ui.element("button").props("type=button").classes("sg-button") as shown:
        text(said)
    if is_main:
        shown.classes("sg-button-main")
    if name:
        shown.props["aria-label"] = name
    return shown.on("click", press)
