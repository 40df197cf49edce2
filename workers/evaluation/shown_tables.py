"""Tables of the retrieval track and of the ablations for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from workers.evaluation.cells import (
    ALL,
    AblationResult,
    Cell,
    Difference,
    Effect,
    RetrievalResult,
)

_RANKED = ("R@1", "R@5", "R@10", "R@20", "R@50", "full@10", "MRR", "nDCG@10")
_GIVEN = ("evidence", "half_told", "full", "tokens")


def retrieval_tables(result: RetrievalResult) -> list[RenderableType]:
    """Return what was ranked, what contexts hold, how baselines differ, and what is doubtful."""
    ranked = [cell for cell in result.cells if cell.unit != "context"]
    given = [cell for cell in result.cells if cell.unit == "context"]
    return [
        _systems("Ranked, with each category's R@10", ranked, _RANKED, "R@10"),
        _systems("Given whole, with each category's evidence", given, _GIVEN, "evidence"),
        _differences(result.differences),
        _doubts(result),
        _times(result),
    ]


def ablation_tables(result: AblationResult) -> list[RenderableType]:
    """Return what taking each part out does."""
    table = Table(title="Without minus whole", box=None, pad_edge=False)
    for head in ("without", "of", "measure", "whole", "without it", "change", "95 %", "by conv."):
        table.add_column(head, justify="left" if head in ("without", "of") else "right")
    for one in result.effects:
        table.add_row(*_effect(one))
    return [table]


def _systems(title: str, cells: Sequence[Cell], measures: Sequence[str], by_category: str) -> Table:
    table = Table(title=title, box=None, pad_edge=False)
    table.add_column("system")
    categories = sorted({cell.category for cell in cells} - {ALL})
    for head in (*measures, *(f"cat {name}" for name in categories)):
        table.add_column(head, justify="right")
    by_place = {(c.system, c.category, c.measure): c for c in cells}
    for system in dict.fromkeys(cell.system for cell in cells):
        figures = [by_place.get((system, ALL, measure)) for measure in measures]
        figures += [by_place.get((system, name, by_category)) for name in categories]
        table.add_row(system, *(_figure(cell, measures) for cell in figures))
    return table


def _figure(cell: Cell | None, ranged: Sequence[str]) -> str:
    if cell is None:
        return ""
    text = _number(cell.measure, cell.mean)
    if cell.category == ALL and cell.measure in ("R@10", "evidence") and cell.measure in ranged:
        low, high = _number(cell.measure, cell.low), _number(cell.measure, cell.high)
        return f"{text} [{low}, {high}]".replace("[", r"\[")
    return text


def _number(measure: str, value: float) -> str:
    if measure == "tokens":
        return f"{value:,.0f}"
    return f"{value:.3f}" if measure in ("MRR", "nDCG@10", "area") else f"{100 * value:.1f}"


def _differences(differences: Sequence[Difference]) -> Table:
    table = Table(title="Differences, question by question", box=None, pad_edge=False)
    for head in ("system", "against", "measure", "better by", "95 %", "by conversation"):
        table.add_column(head, justify="left" if head in ("system", "against") else "right")
    for one in differences:
        if one.measure in ("R@10", "MRR", "evidence"):
            table.add_row(
                one.system,
                one.against,
                one.measure,
                _number(one.measure, one.mean),
                _range(one.measure, one.low, one.high),
                _range(one.measure, one.low_by_conversation, one.high_by_conversation),
            )
    return table


def _doubts(result: RetrievalResult) -> RenderableType:
    told = result.abstention
    if told is None:
        return "No unanswerable questions: nothing to tell of abstention."
    told_of = (
        f"Likely unanswerable: area under the curve {told.area:.3f} "
        rf"\[{told.low:.3f}, {told.high:.3f}]; the gate warned of "
        f"{100 * told.unanswerable_warned:.0f}% of the unanswerable and "
        f"{100 * told.answerable_warned:.0f}% of the others."
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("doubt from")
    table.add_column("unanswerable", justify="right")
    table.add_column("answerable", justify="right")
    for point in told.curve:
        shares = (f"{100 * s:.0f}%" for s in (point.unanswerable_warned, point.answerable_warned))
        table.add_row(f"{point.doubt_from:.2f}", *shares)
    return Group(told_of, table)


def _times(result: RetrievalResult) -> Table:
    table = Table(title="Milliseconds a request", box=None, pad_edge=False)
    for head in ("request", "count", "p50", "p95"):
        table.add_column(head, justify="left" if head == "request" else "right")
    for one in result.latencies:
        table.add_row(one.request, str(one.count), f"{one.p50_ms:.1f}", f"{one.p95_ms:.1f}")
    return table


def _effect(one: Effect) -> tuple[str, ...]:
    return (
        one.ablation,
        one.unit,
        one.measure,
        _number(one.measure, one.whole),
        _number(one.measure, one.without),
        _number(one.measure, one.change),
        _range(one.measure, one.low, one.high),
        _range(one.measure, one.low_by_conversation, one.high_by_conversation),
    )


def _range(measure: str, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return rf"\[{_number(measure, low)}, {_number(measure, high)}]"
