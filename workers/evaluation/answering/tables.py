"""A run's figures as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from workers.evaluation.answering.summary import ANSWERABLE, UNANSWERABLE


def tables_of(summary: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables: correctness by judge, where wrong answers failed, and what it took."""
    yield _correctness(summary["modes"])
    yield _failures(summary["modes"])
    yield _costs(summary["modes"])


def _correctness(modes: Mapping[str, Any]) -> Table:
    categories = sorted(
        {
            name
            for mode in modes.values()
            for judge in mode["judges"].values()
            for name in judge["groups"]
            if name.startswith("category ")
        }
    )
    groups = [ANSWERABLE, UNANSWERABLE, *categories]
    table = _table("mode", "judge", *groups, "runs", "split")
    for name, mode in modes.items():
        for judge, told in mode["judges"].items():
            cells = [_share(told["groups"].get(group)) for group in groups]
            whole = told["groups"].get(ANSWERABLE)
            runs = f"{_percent(whole['run_least'])}-{_percent(whole['run_most'])}" if whole else ""
            split = sum(g["split"] for n, g in told["groups"].items() if n in groups[:2])
            table.add_row(name, judge, *cells, runs, str(split))
    return table


def _failures(modes: Mapping[str, Any]) -> Table:
    judges = sorted({judge for mode in modes.values() for judge in mode["judges"]})
    table = _table("mode", "failed at", *judges)
    for name, mode in modes.items():
        counts = {judge: mode["judges"][judge]["failed_at"] for judge in judges}
        for stage in sorted({stage for one in counts.values() for stage in one}):
            table.add_row(name, stage, *(str(counts[j].get(stage, 0)) for j in judges))
    return table


def _costs(modes: Mapping[str, Any]) -> Table:
    heads = ("tokens in", "tokens out", "calls", "cost", "p50 s", "p95 s")
    names = ("input_tokens", "output_tokens", "calls", "cost", "seconds_p50", "seconds_p95")
    table = _table("mode", "evidence found", *heads)
    for name, mode in modes.items():
        found = mode["evidence"]
        shown = f"{found['found_any']} of {found['labelled']}"
        table.add_row(name, shown, *(f"{mode['cost'][one]:g}" for one in names))
    return table


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < 2 else "right")
    return table


def _share(group: Mapping[str, Any] | None) -> str:
    return f"{_percent(group['mean'])} / {_percent(group['majority'])}" if group else ""


def _percent(value: float) -> str:
    return f"{100 * value:.0f}"
