"""The effect of an ablation: without minus whole, paired by question, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from workers.evaluation.abstention import Judged
from workers.evaluation.bootstrap import Resamples
from workers.evaluation.cells import KEY_MEASURES, Effect, System, differences_of
from workers.evaluation.measures import area_under_curve

AREA: Final = "area"
NOTHING_TOLD: Final = 0.5
"""The area under the curve where every question looks alike."""


def effects_of(
    name: str, whole: Mapping[str, System], without: Mapping[str, System]
) -> list[Effect]:
    """Return the changes in every system that an ablation has too, in the key measures."""
    means = {system: _means(whole[system]) for system in without}
    return [
        Effect(
            ablation=name,
            unit=system,
            measure=one.measure,
            questions=one.questions,
            whole=round(means[system][one.measure], 5),
            without=round(means[system][one.measure] + one.mean, 5),
            change=one.mean,
            low=one.low,
            high=one.high,
            low_by_conversation=one.low_by_conversation,
            high_by_conversation=one.high_by_conversation,
        )
        for system, changed in without.items()
        for one in differences_of([(changed, whole[system])])
    ]


def flat_doubt(name: str, judged: Sequence[Judged]) -> list[Effect]:
    """Return what is lost where nothing tells unanswerable questions: the area falls to 0.5.

    Also the shares of questions warned of by the gate, which fall to 0. Nothing where all
    questions are of one kind.
    """
    told = [(one.doubt, not one.answerable) for one in judged]
    if len({kind for _, kind in told}) < 2:
        return []
    resamples = Resamples([one.conversation for one in judged])
    low, high = resamples.statistic(lambda places: area_under_curve([told[p] for p in places]))
    area = area_under_curve(told)
    found = [
        Effect(
            ablation=name,
            unit="abstention",
            measure=AREA,
            questions=len(judged),
            whole=round(area, 5),
            without=NOTHING_TOLD,
            change=round(NOTHING_TOLD - area, 5),
            low=round(NOTHING_TOLD - high, 5),
            high=round(NOTHING_TOLD - low, 5),
            low_by_conversation=None,
            high_by_conversation=None,
        )
    ]
    for measure, answerable in (("warned, unanswerable", False), ("warned, answerable", True)):
        some = [one for one in judged if one.answerable is answerable]
        interval = Resamples([one.conversation for one in some]).interval(
            [-float(one.warned) for one in some]
        )
        found.append(
            Effect(
                ablation=name,
                unit="abstention",
                measure=measure,
                questions=len(some),
                whole=round(-interval.mean, 5),
                without=0.0,
                change=round(interval.mean, 5),
                low=round(interval.low, 5),
                high=round(interval.high, 5),
                low_by_conversation=interval.low_by_conversation,
                high_by_conversation=interval.high_by_conversation,
            )
        )
    return found


def _means(system: System) -> dict[str, float]:
    rows = [row for row in system.rows if row.answerable]
    return {
        measure: sum(row.values[measure] for row in rows) / len(rows)
        for measure in KEY_MEASURES
        if rows and measure in rows[0].values
    }
