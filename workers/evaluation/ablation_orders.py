"""The orders that an ablation asks for, made of the signals that each hit tells.

A search's reply says what every signal gave to a hit's score, which is their sum, so a part can be
taken out of the order afterwards: of the hits that the reply holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from shared.domain.ranking.weights import Signal
from workers.evaluation.asking import Answers
from workers.evaluation.fitting import Answered, outcome_of
from workers.evaluation.measures import Outcome

_WORDS: Final = Signal.WORDS.value
_EVENTS: Final = Signal.EVENTS.value
_Signals = Mapping[str, float]


def by_words_alone(one: Answered) -> Outcome:
    """Return a question's messages ordered by their words, with their neighbours'."""
    others = {signal.value: 0.0 for signal in Signal if signal is not Signal.WORDS}
    return outcome_of(one, others)


def without_meaning(one: Answered) -> Outcome:
    """Return a question's messages as words and events alone find and rank them."""
    found = [c for c in one.candidates if c.shares.get(_WORDS) or c.shares.get(_EVENTS)]
    kept = replace(one, candidates=tuple(found))
    return outcome_of(kept, {Signal.MEANING.value: 0.0})


def events_reordered(
    answers: Answers, worth: Callable[[_Signals], float | None]
) -> Iterator[Outcome]:
    """Yield the found events in another order; equal ones stay as they are, None drops one."""
    for one, cards in zip(answers.events, answers.event_cards, strict=True):
        valued = [(worth(card["signals"]), card["event_id"]) for card in cards]
        kept = [(value, name) for value, name in valued if value is not None]
        ids = [name for _, name in sorted(kept, key=lambda pair: -pair[0])]
        yield Outcome(one.category, ids, one.gold, one.answerable, one.holds)


def worth_without_meaning(signals: _Signals) -> float | None:
    """Return an event's score without vectors, None where they alone found it."""
    others = {name: share for name, share in signals.items() if name != Signal.MEANING}
    # Every event has a weight, so that alone is no reason to be found.
    return sum(others.values()) if others.keys() - {Signal.WEIGHT.value} else None


def worth_of_words(signals: _Signals) -> float:
    """Return what an event's words give."""
    return signals.get(_WORDS, 0.0)


def worth_without_weight(signals: _Signals) -> float:
    """Return an event's score without its weight."""
    return sum(share for name, share in signals.items() if name != Signal.WEIGHT)
