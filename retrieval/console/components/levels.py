"""A level of detail as a chip: L0 to L5, its colour deepening with what it keeps."""

from __future__ import annotations

from nicegui import ui

from retrieval.console.components.text import text


def level_chip(level: int, label: str = "") -> ui.element:
    """Show a level; `label` says in words what it holds."""
    chip = text(f"L{level}", classes=f"sg-level sg-level-{level}")
    if label:
        chip.props["title"] = label
    return chip
