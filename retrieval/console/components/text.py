"""Words on the page: every text of memory goes through here, as text and never as markup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement


def text(content: str, tag: str = "span", *, classes: str = "") -> TextElement:
    """Show text in an element of its own."""
    return TextElement(tag=tag, text=content).classes(classes)


def heading(content: str, *, level: int = 2, classes: str = "") -> TextElement:
    """Show a heading; pages have level 1 already, their sections begin at 2."""
    return text(content, f"h{level}", classes=classes)


@contextmanager
def section(title: str, *, note: str = "", classes: str = "") -> Iterator[ui.element]:
    """Open a card with a heading, as a region that screen readers can jump to."""
    with ui.element("section").classes(f"sg-card {classes}") as card:
        with ui.element("div").classes("sg-card-head"):
            shown = heading(title)
            if note:
                text(note, "p", classes="sg-hint")
        card.props["aria-labelledby"] = shown.html_id
        yield card
