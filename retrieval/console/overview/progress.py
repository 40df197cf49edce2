"""The walk of a turn in counts, and what is under way with its age."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.components.figures import age, number
from retrieval.console.components.states import status_badge
from retrieval.console.components.table import Column, table
from retrieval.console.components.text import section, text

_STAGES = {
    "summarize": "Summaries",
    "extract": "Events",
    "project": "Graph",
    "embed": "Vectors",
}
_ENDED_WELL = ("succeeded", "succeeded_empty")
_LOST = ("dead", "degraded", "cancelled")


def show_progress(counts: dict[str, Any]) -> None:
    """Show how far each stage is, and since when its oldest job waits."""
    with section("Stages", note="From what was said to what is known. Ended jobs are pruned."):
        kinds = [kind for kind in _STAGES if kind in counts["jobs"]]
        others = [kind for kind in counts["jobs"] if kind not in _STAGES]
        if not counts["jobs"]:
            text("No job has run in this namespace yet.", "p", classes="sg-muted")
            return
        rows = [(kind, counts["jobs"][kind], counts["in_progress"].get(kind)) for kind in kinds]
        rows += [(kind, counts["jobs"][kind], counts["in_progress"].get(kind)) for kind in others]
        table(
            "Jobs by stage",
            [
                Column("Stage", lambda row: text(_STAGES.get(row[0], row[0].capitalize()))),
                Column("Done", lambda row: text(_sum(row[1], _ENDED_WELL)), is_figure=True),
                Column("Failed", lambda row: text(_sum(row[1], _LOST)), is_figure=True),
                Column("In progress", lambda row: _in_progress(row[2])),
            ],
            rows,
        )


def _sum(states: dict[str, int], wanted: tuple[str, ...]) -> str:
    return number(sum(states.get(state, 0) for state in wanted))


def _in_progress(live: dict[str, float] | None) -> None:
    if live is None:
        status_badge("none", "calm")
        return
    with ui.element("span").classes("sg-row"):
        status_badge(f"{number(live['jobs'])}, oldest {age(live['oldest_s'])}", "busy")
