"""Health in words: one sentence that says whether to worry, and the parts it rests on."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.components.figures import age, counted
from retrieval.console.components.states import Tone, status_badge
from retrieval.console.components.text import heading, text

_PARTS = {
    "database": "Database",
    "migrations": "Schema",
    "broker": "Broker",
    "vectors": "Vectors",
}
_LATE_S = 60.0


def show_health(health: dict[str, Any], counts: dict[str, Any], *, failed: int) -> None:
    """Say how memory is."""
    tone, title, said = verdict(health, counts, failed=failed)
    with ui.element("section").classes(f"sg-card sg-health sg-health-{tone}") as card:
        with ui.element("div").classes("sg-stack sg-tight sg-grow"):
            shown = heading(title)
            text(said, "p", classes="sg-muted")
        card.props["aria-labelledby"] = shown.html_id
        with ui.element("div").classes("sg-row"):
            for name, words in _PARTS.items():
                part = health["parts"].get(name)
                if part is not None:
                    is_well = bool(part.get("ok", part.get("state") == "ready"))
                    status_badge(
                        f"{words} {'well' if is_well else 'away'}", "good" if is_well else "bad"
                    )


def verdict(
    health: dict[str, Any], counts: dict[str, Any], *, failed: int
) -> tuple[Tone, str, str]:
    """Return tone, headline and sentence: the worst that is known comes first."""
    live = sum(int(one["jobs"]) for one in counts["in_progress"].values())
    oldest = max((float(one["oldest_s"]) for one in counts["in_progress"].values()), default=0.0)
    if not health["parts"]["broker"]["ok"]:
        said = "The broker is away. Everything said is stored; processing goes on when it is back."
        return "bad", "Processing waits", said
    if failed:
        said = "What was said is safe and stays in context as it was said. Retry what failed below."
        return "bad", f"{counted(failed, 'job')} need{'s' if failed == 1 else ''} a person", said
    if live and oldest > _LATE_S:
        said = f"{counted(live, 'job')} under way, the oldest for {age(oldest)}."
        return "busy", "Memory is behind", said
    if live:
        said = f"{counted(live, 'job')} under way, the oldest for {age(oldest)}."
        return "busy", "Memory is being made", said
    if not counts["turns"]:
        return "good", "Ready for a first turn", "Nothing was said in this namespace yet."
    tail = counted(counts["open_tail_turns"], "turn")
    said = f"Nothing waits and nothing failed; {tail} in open tails stand in context as said."
    return "good", "Memory is up to date", said
