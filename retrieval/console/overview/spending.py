"""Tokens and budget: what model calls cost today and lately, and what stops them."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.components.figures import number
from retrieval.console.components.moments import written
from retrieval.console.components.states import notice
from retrieval.console.components.table import Column, table
from retrieval.console.components.text import section, text


def show_spending(usage: dict[str, Any]) -> None:
    """Show today's spend against the budgets, and the span's total by step."""
    today, total = usage["today"], usage["total"]
    with section("Tokens and budget", note=f"Model calls since {usage['from']}, in UTC days."):
        if today["stopped_by"]:
            until = written(today["resumes_at"]) if today["resumes_at"] else "midnight UTC"
            notice(
                f"The {today['stopped_by']}'s budget of today is used up. Processing goes on at "
                f"{until}; everything said is stored and in context meanwhile.",
                "busy",
            )
        _meter("Today, this namespace", today["namespace_spent"], today["namespace_budget"])
        if today["tenant_spent"] is not None:
            _meter("Today, all namespaces", today["tenant_spent"], today["tenant_budget"])
        table(
            "Model calls by step",
            [
                Column("Step", lambda row: text(row["step"].capitalize())),
                Column("Calls", lambda row: text(number(row["calls"])), is_figure=True),
                Column("Failed", lambda row: text(number(row["failed_calls"])), is_figure=True),
                Column("In", lambda row: text(number(row["input_tokens"])), is_figure=True),
                Column("Out", lambda row: text(number(row["output_tokens"])), is_figure=True),
            ],
            [*_by_step(usage["items"]), {"step": "all", **total}],
        )


def _meter(name: str, spent: int | None, budget: int | None) -> None:
    words = f"{number(spent or 0)} tokens"
    words += f" of {number(budget)}" if budget is not None else ", no limit set"
    with ui.element("div").classes("sg-meter"):
        with ui.element("div").classes("sg-row sg-between"):
            text(name)
            text(words, classes="sg-muted")
        if budget is not None:
            share = min(1.0, (spent or 0) / budget) if budget else 1.0
            bar = ui.element("progress").props(f"max=1 value={share:.4f}")
            bar.props["aria-label"] = f"{name}: {words}"


def _by_step(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add up a page of usage by step, in the order of the walk."""
    added: dict[str, dict[str, Any]] = {}
    for item in items:
        row = added.setdefault(
            item["step"],
            {"step": item["step"], "calls": 0, "failed_calls": 0}
            | {"input_tokens": 0, "output_tokens": 0},
        )
        for name in ("calls", "failed_calls", "input_tokens", "output_tokens"):
            row[name] += item[name]
    order = ("summarize", "extract", "project", "import", "embed")
    places = {step: place for place, step in enumerate(order)}
    return sorted(added.values(), key=lambda row: (places.get(row["step"], 9), row["step"]))
