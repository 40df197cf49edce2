"""Rank messages: a weighted sum of signals, each from 0 to 1 and kept to explain the order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from typing import Final, NamedTuple

from shared.domain.bm25 import Bm25Stats
from shared.domain.ranking.meaning import Likeness, scaled_likeness
from shared.domain.ranking.question import Asked, named_speakers, said_then
from shared.domain.ranking.said import Near, Said, beside_each, sittings
from shared.domain.ranking.scoring import scale_to_best, weighted_sum
from shared.domain.ranking.weights import SHIPPED, Signal
from shared.domain.ranking.wording import asks, fullness, share_of_questions, tells_time
from shared.domain.ranking.words import WordScorer, with_names, word_scorer

# Named here as well: a member's look-up in its class is dear, and there are ten for each message.
_WORDS, _MEANING, _COVERAGE = Signal.WORDS, Signal.MEANING, Signal.COVERAGE
_EVENTS, _SPEAKER, _ANSWERS = Signal.EVENTS, Signal.SPEAKER, Signal.ANSWERS
_TELLS_TIME, _SAID_THEN, _SITTING = Signal.TELLS_TIME, Signal.SAID_THEN, Signal.SITTING
_LENGTH, _ONLY_ASKS = Signal.LENGTH, Signal.ONLY_ASKS

_BEST_OF_SITTING: Final = 3
"""How many of its best messages speak for a sitting."""

_UNNAMED: Final = 0.5
"""What being of the asked role counts, against being the person named."""


class Ranked(NamedTuple):
    """One message's place: its score, the signals behind it, and what stands beside it."""

    said: Said
    score: float
    signals: Mapping[Signal, float]
    near: Near


class _Scored(NamedTuple):
    said: Said
    near: Near
    sitting: int
    signals: dict[Signal, float]


def rank_messages(
    asked: Asked,
    messages: Iterable[Said],
    *,
    stats: Bm25Stats,
    weights: Mapping[Signal, float] = SHIPPED,
    likeness: Likeness | None = None,
) -> list[Ranked]:
    """Return the messages that hold or stand beside a term of the question, best first.

    `messages` are candidates with the turns beside them, `stats` the whole collection's. With
    `likeness` those with a vector are ranked too, whatever words they hold. Equal scores: the
    later one first.
    """
    scored = _scored(asked, messages, stats, likeness)
    if not scored:
        return []
    for signal in (_WORDS, _EVENTS, _ANSWERS):
        scale_to_best([one.signals for one in scored], signal)
    if likeness is not None:
        _add_meaning(scored, likeness)
    _add_sitting(scored)
    _add_speaker(asked, scored)
    # A plain dict is asked ten thousand times in a search, at half the price of a proxy.
    counts = dict(weights)
    ranked = [
        Ranked(said, weighted_sum(signals, counts), signals, beside)
        for said, beside, _, signals in scored
    ]
    ranked.sort(key=_order)
    return ranked


def _scored(
    asked: Asked, messages: Iterable[Said], stats: Bm25Stats, likeness: Likeness | None
) -> list[_Scored]:
    scorer = word_scorer(asked.terms, stats)
    by_id = {said.id: said for said in messages}
    alike = {} if likeness is None else likeness.cosines
    found: list[_Scored] = []
    for number, sitting in enumerate(sittings(with_names(asked.terms, by_id.values()))):
        for said, beside in zip(sitting, beside_each(sitting), strict=True):
            words = scorer.joined(said, beside)
            if words > 0 or said.events > 0 or said.id in alike:
                signals = _signals(asked, said, beside.previous, scorer)
                signals[_WORDS] = words
                found.append(_Scored(by_id[said.id], beside, number, signals))
    return found


def _signals(
    asked: Asked, said: Said, previous: Said | None, scorer: WordScorer
) -> dict[Signal, float]:
    """Return what a message says for itself, whatever the others say."""
    content = said.content
    led = previous is not None and bool(previous.held) and asks(previous.content)
    signals = {
        _COVERAGE: scorer.coverage(said),
        _EVENTS: said.events,
        _ANSWERS: scorer.own(previous) if previous and led else 0.0,
        _LENGTH: fullness(content),
        _ONLY_ASKS: share_of_questions(content),
    }
    if asked.is_about_time:
        signals[_TELLS_TIME] = float(tells_time(content))
    if asked.months or asked.years:
        signals[_SAID_THEN] = said_then(asked, said.said_at)
    return signals


def _add_meaning(scored: Sequence[_Scored], likeness: Likeness) -> None:
    """Say how alike each message is to the question; one without a vector counts as the middle.

    What was said just now has none yet, and must neither gain nor lose by that.
    """
    found: dict[str, float] = {}
    for one in scored:
        alike = likeness.smoothed(one.said.id, one.near)
        if alike is not None:
            found[one.said.id] = alike
    scaled = scaled_likeness(found, lowest=likeness.lowest)
    middle = sum(scaled.values()) / len(scaled) if scaled else 0.0
    for one in scored:
        one.signals[_MEANING] = scaled.get(one.said.id, middle)


def _add_sitting(scored: Sequence[_Scored]) -> None:
    """Let a sitting's best hits speak for it: an answer may be told over several messages."""
    words: dict[int, list[float]] = {}
    for one in scored:
        words.setdefault(one.sitting, []).append(one.signals[_WORDS])
    told = {number: sum(nlargest(_BEST_OF_SITTING, found)) for number, found in words.items()}
    best = max(told.values())
    if len(told) > 1 and best > 0:
        for one in scored:
            one.signals[_SITTING] = told[one.sitting] / best


def _add_speaker(asked: Asked, scored: Sequence[_Scored]) -> None:
    named = named_speakers(asked, {one.said.speaker for one in scored if one.said.speaker})
    for one in scored:
        if named:
            one.signals[_SPEAKER] = float(one.said.speaker in named)
        elif asked.role is not None and one.said.speaker is None:
            one.signals[_SPEAKER] = _UNNAMED * (one.said.role == asked.role)


def _order(one: Ranked) -> tuple[float, float, int, int, str]:
    said = one.said
    moment = said.said_at.timestamp() if said.said_at else 0.0
    return (-one.score, -moment, -said.turn, -said.position, said.id)
