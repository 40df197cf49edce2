"""A quote with its source: what was said, by whom and when, the cited words marked in it."""

from __future__ import annotations

import re

from nicegui import ui

from retrieval.console.components.moments import moment
from retrieval.console.components.text import text


def quote(
    said: str, *, who: str = "", when: str | None = None, href: str = "", where: str = ""
) -> ui.element:
    """Show words as they were said, above the person, the time, and a link to the source."""
    with ui.element("figure").classes("sg-quote") as shown:
        text(said, "blockquote")
        with ui.element("figcaption"):
            _source(who, when, href, where)
    return shown


def source_message(
    content: str,
    *,
    quotes: list[str],
    who: str,
    when: str | None,
    name: str = "",
) -> ui.element:
    """Show a whole source message with the quoted words marked."""
    with ui.element("figure").classes("sg-source") as shown:
        with ui.element("figcaption"):
            _source(f"{name} ({who})" if name else who, when, "", "")
        with ui.element("div").classes("sg-source-text"):
            for part, is_quoted in marked(content, quotes):
                text(part, "mark" if is_quoted else "span")
    return shown


def marked(content: str, quotes: list[str]) -> list[tuple[str, bool]]:
    """Split a text into parts, told whether each is quoted; white space is matched loosely."""
    spans: list[tuple[int, int]] = []
    for one in quotes:
        words = one.split()
        if not words:
            continue
        found = re.search(r"\s+".join(map(re.escape, words)), content, re.IGNORECASE)
        if found is not None:
            spans.append(found.span())
    parts: list[tuple[str, bool]] = []
    at = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < at:
            continue  # quotes overlap: the first and longest is marked whole
        parts += [(content[at:start], False), (content[start:end], True)]
        at = end
    parts.append((content[at:], False))
    return [part for part in parts if part[0]]


def _source(who: str, when: str | None, href: str, where: str) -> None:
    if who:
        text(who, classes="sg-who")
    if when:
        moment(when)
    if href:
        ui.link(where or "Source", href)
    elif where:
        text(where, classes="sg-mono")
