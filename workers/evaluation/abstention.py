"""How well the gate tells questions without an answer: its advisory, and the doubt behind it.

The advisory only says yes or no. The doubt is worked out from a search's reply by the product's
own rule, so that the whole curve can be drawn; how often the two agree is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.ranking.messages import Ranked
from shared.domain.ranking.question import read_question
from shared.domain.ranking.said import Near, Said
from shared.domain.ranking.unanswerable import DOUBTFUL, doubt_of
from shared.domain.ranking.weights import SHIPPED, Signal
from workers.evaluation.bootstrap import Resamples
from workers.evaluation.cells import Abstention, CurvePoint
from workers.evaluation.measures import area_under_curve

LIKELY_UNANSWERABLE: Final = "likely_unanswerable"
_THRESHOLDS: Final = (0.3, 0.2, 0.15, 0.1, 0.05, 0.0, -0.1)


@dataclass(frozen=True, slots=True)
class Judged:
    """One question: whether it can be answered, the doubt, and whether the gate warned."""

    question: str
    conversation: str
    answerable: bool
    doubt: float
    warned: bool


def doubt_of_reply(question: str, items: Sequence[Mapping[str, Any]]) -> float:
    """Return the doubt that a raw search's items, best first, answer a question; 1 without any."""
    ranked = [_ranked(item) for item in items]
    return doubt_of(question, read_question(question), ranked).score


def abstention(judged: Sequence[Judged]) -> Abstention | None:
    """Return the figures, None where one of the kinds is missing."""
    told = [(one.doubt, not one.answerable) for one in judged]
    if len({kind for _, kind in told}) < 2:
        return None
    resamples = Resamples([one.conversation for one in judged])
    low, high = resamples.statistic(lambda places: area_under_curve([told[p] for p in places]))
    return Abstention(
        questions=len(judged),
        unanswerable=sum(kind for _, kind in told),
        area=round(area_under_curve(told), 5),
        low=round(low, 5),
        high=round(high, 5),
        unanswerable_warned=_share([one.warned for one in judged if not one.answerable]),
        answerable_warned=_share([one.warned for one in judged if one.answerable]),
        agreement=_share([one.warned == (one.doubt >= DOUBTFUL) for one in judged]),
        curve=[
            CurvePoint(
                threshold,
                _share([one.doubt >= threshold for one in judged if not one.answerable]),
                _share([one.doubt >= threshold for one in judged if one.answerable]),
            )
            for threshold in _THRESHOLDS
        ],
    )


def _ranked(item: Mapping[str, Any]) -> Ranked:
    said = Said(
        id=item["message_id"],
        thread=item["thread_id"],
        turn=item["message"]["turn"],
        position=0,
        role=item["role"],
        speaker=item["name"],
        said_at=None,
        content=item["message"]["content"],
        held={},
        length=0.0,
    )
    signals = {
        Signal(name): share / SHIPPED[Signal(name)] for name, share in item["signals"].items()
    }
    return Ranked(said, item["rank_score"], signals, Near())


def _share(told: Sequence[bool]) -> float:
    return round(sum(told) / len(told), 5)
