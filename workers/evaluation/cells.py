"""What the retrieval track and the ablations report: flat lists of figures, each with intervals.

`asdict` of `RetrievalResult` is the `result` of kind "retrieval", of `AblationResult` that of kind
"ablations". Shares stand from 0 to 1, times in milliseconds, `tokens` as the product estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from workers.evaluation.bootstrap import Interval, Resamples
from workers.evaluation.measures import RANKED

ALL: Final = "all"
"""The category of figures over every answerable question."""

IN_CONTEXT: Final = ("evidence", "half_told", "full", "tokens")
"""The measures of a context: the share of the evidence in it, the share of which it holds at least
half of the words, whether all of it is in it, and its size."""

KEY_MEASURES: Final = ("R@10", "full@10", "R@50", "MRR", "nDCG@10", *IN_CONTEXT)
"""The measures that differences are told of."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One question's figures under one system; no text, only its id."""

    question: str
    conversation: str
    category: str
    answerable: bool
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class System:
    """One system's figures on every question, in one order for all systems.

    `unit` is what it ranks: "messages", "blocks", "events", or "context" for what is given whole.
    One that is not `by_category` is only told of over all questions.
    """

    name: str
    unit: str
    rows: Sequence[Scored]
    by_category: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of the table: a system's mean in a measure, over a category.

    `category` is "all" for the answerable questions, else a category's name. `low` and `high` are
    the 95 % interval by question, the other pair by conversation (None where there is one).
    """

    system: str
    unit: str
    category: str
    measure: str
    questions: int
    mean: float
    low: float
    high: float
    low_by_conversation: float | None
    high_by_conversation: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better `system` is than `against`, question by question; of "all" alone."""

    system: str
    against: str
    unit: str
    measure: str
    questions: int
    mean: float
    low: float
    high: float
    low_by_conversation: float | None
    high_by_conversation: float | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What would be warned of if doubt were told from `doubt_from` on."""

    doubt_from: float
    unanswerable_warned: float
    answerable_warned: float


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well doubt tells unanswerable questions from answerable ones.

    `area` is of the curve (0.5: not at all) with its interval by question. The `_warned` shares
    are of the gate's own advisory over HTTP, `agreement` is how often doubt worked out from the
    search's reply says the same.
    """

    questions: int
    unanswerable: int
    area: float
    low: float
    high: float
    unanswerable_warned: float
    answerable_warned: float
    agreement: float
    curve: Sequence[CurvePoint]


@dataclass(frozen=True, slots=True)
class Latency:
    """How long requests of one kind took, as the client saw them."""

    request: str
    count: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Skipped:
    """A system that was not measured, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The whole table. `left_out` counts questions whose evidence is not known.

    `degraded` counts searches that a lane was missing from, `weights` names the ranking's.
    """

    weights: str
    conversations: int
    messages: int
    questions: int
    answerable: int
    left_out: int
    degraded: int
    cells: Sequence[Cell]
    differences: Sequence[Difference]
    abstention: Abstention | None
    latencies: Sequence[Latency]
    skipped: Sequence[Skipped] = ()


@dataclass(frozen=True, slots=True)
class Ablation:
    """One part taken out: what is switched, by which means, and what that can move at all.

    `by_construction` says what is known before measuring, such as why an effect must be zero.
    """

    name: str
    takes_out: str
    switched_by: str
    can_move: Sequence[str]
    by_construction: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What taking a part out does: `change` is without minus whole, paired, with its intervals.

    Negative means that the part helps. `unit` is what is ranked, or "context", or "abstention".
    """

    ablation: str
    unit: str
    measure: str
    questions: int
    whole: float
    without: float
    change: float
    low: float
    high: float
    low_by_conversation: float | None
    high_by_conversation: float | None


@dataclass(frozen=True, slots=True)
class AblationResult:
    """The whole system's cells, each ablation, its effects, and what could not be measured."""

    weights: str
    conversations: int
    questions: int
    answerable: int
    vectors: str | None
    cells: Sequence[Cell]
    ablations: Sequence[Ablation]
    effects: Sequence[Effect]
    skipped: Sequence[Skipped] = field(default_factory=tuple)


def cells_of(systems: Iterable[System]) -> list[Cell]:
    """Return every system's figures, overall and by category."""
    found: list[Cell] = []
    drawn: dict[tuple[str, ...], Resamples] = {}
    for system in systems:
        categories = sorted({row.category for row in system.rows if system.by_category})
        for category in (ALL, *categories):
            rows = [row for row in system.rows if _belongs(row, category)]
            if rows:
                resamples = _resamples(drawn, rows)
                found += [
                    _cell(system, category, measure, rows, resamples)
                    for measure in (*RANKED, *IN_CONTEXT)
                    if measure in rows[0].values
                ]
    return found


def differences_of(pairs: Iterable[tuple[System, System]]) -> list[Difference]:
    """Return how much the first system of each pair is better than the second."""
    found: list[Difference] = []
    drawn: dict[tuple[str, ...], Resamples] = {}
    for system, against in pairs:
        rows = _paired(system, against)
        resamples = _resamples(drawn, [row for row, _ in rows])
        for measure in KEY_MEASURES:
            if rows and measure in rows[0][0].values and measure in rows[0][1].values:
                values = [one.values[measure] - other.values[measure] for one, other in rows]
                interval = resamples.interval(values)
                found.append(
                    Difference(
                        system.name, against.name, system.unit, measure, len(rows), *_flat(interval)
                    )
                )
    return found


def _paired(system: System, against: System) -> list[tuple[Scored, Scored]]:
    other = {row.question: row for row in against.rows}
    return [
        (row, other[row.question])
        for row in system.rows
        if row.answerable and row.question in other
    ]


def _belongs(row: Scored, category: str) -> bool:
    return row.answerable if category == ALL else row.category == category


def _resamples(drawn: dict[tuple[str, ...], Resamples], rows: Sequence[Scored]) -> Resamples:
    # Drawing takes longer than adding up, and most systems answer the same questions.
    conversations = tuple(row.conversation for row in rows)
    if conversations not in drawn:
        drawn[conversations] = Resamples(conversations)
    return drawn[conversations]


def _cell(
    system: System, category: str, measure: str, rows: Sequence[Scored], resamples: Resamples
) -> Cell:
    interval = resamples.interval([row.values[measure] for row in rows])
    return Cell(system.name, system.unit, category, measure, len(rows), *_flat(interval))


def _flat(interval: Interval) -> tuple[float, float, float, float | None, float | None]:
    return (
        round(interval.mean, 5),
        round(interval.low, 5),
        round(interval.high, 5),
        _rounded(interval.low_by_conversation),
        _rounded(interval.high_by_conversation),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
