"""A table of one page of rows, and the way to the next page by its keyset cursor.

Give `table` columns whose `cell` builds a cell from a row; `pager` links to the next page of this
address and back to the first, so that the browser's own back button is the page before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nicegui import ui

from retrieval.console.components.text import text
from retrieval.console.page_context import PageContext

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column: its title, and what builds a cell. Figures stand at the right."""

    title: str
    cell: Callable[[Row], object]
    is_figure: bool = False


def table(
    caption: str, columns: Sequence[Column[Row]], rows: Sequence[Row], *, hide_caption: bool = True
) -> ui.element:
    """Show rows; the caption names the table for screen readers."""
    with ui.element("div").classes("sg-table-scroll").props("tabindex=0 role=region") as scroll:
        scroll.props["aria-label"] = caption
        with ui.element("table").classes("sg-table"):
            text(caption, "caption", classes="sg-only-read" if hide_caption else "")
            with ui.element("thead"), ui.element("tr"):
                for column in columns:
                    head = text(column.title, "th").props("scope=col")
                    head.classes("sg-figure" if column.is_figure else "")
            with ui.element("tbody"):
                for row in rows:
                    _row(columns, row)
    return scroll


def pager(page: PageContext, next_cursor: str | None, *, name: str = "cursor") -> None:
    """Link to the next page of rows, and to the first when this is not it."""
    is_later = name in page.query
    if not is_later and next_cursor is None:
        return
    with ui.element("nav").classes("sg-pager").props('aria-label="Pages of rows"'):
        if is_later:
            ui.link("First page", page.url(**{name: None})).classes("sg-button")
        if next_cursor is not None:
            ui.link("Next page", page.url(**{name: next_cursor})).classes("sg-button")


def _row(columns: Sequence[Column[Row]], row: Row) -> None:
    with ui.element("tr"):
        for column in columns:
            with ui.element("td").classes("sg-figure" if column.is_figure else ""):
                column.cell(row)
