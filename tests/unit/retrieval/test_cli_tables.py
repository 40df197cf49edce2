from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from retrieval.cli import _TABLES


def shown(kind: str, item: dict[str, Any]) -> str:
    console = Console(width=200, record=True, file=StringIO())
    console.print(_TABLES[kind]([item]))
    return console.export_text()


def node(state: str) -> dict[str, Any]:
    return {
        "name": "Ada [/]",
        "type": "person",
        "node_id": "nod_1",
        "current_state": state,
        "match_reason": "name",
    }


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("tools: pnpm、vite、caf\u00e9、x", "tools: pnpm, vite, caf\u00e9, x"),
        ("喜欢: 苹果、香蕉", "喜欢: 苹果、香蕉"),
        ("trip: Lisbon [planned]", "trip: Lisbon [planned]"),
    ],
)
def test_a_state_is_shown_as_its_script_joins_lists_with_its_marks(state: str, text: str) -> None:
    assert text in shown("graph", node(state))


def test_text_of_a_memory_is_shown_as_it_is_never_read_as_markup() -> None:
    said = "see [/b] and [red]this[/red]"
    raw = {
        "in_open_tail": True,
        "name": None,
        "role": "user",
        "message": {"content": said},
        "source_time": "2026-03-02",
    }
    event = {
        "title": said,
        "event_id": "evt_1",
        "source_time": "2026-03-02",
        "status": "active",
        "match_reason": "x",
    }
    assert said in shown("raw", raw)
    assert said in shown("events", event)
    assert "Ada [/]" in shown("graph", node(""))
