"""Say why a message was found: the words it holds, and each signal that spoke for it."""

from __future__ import annotations

from shared.domain.ranking.messages import Ranked
from shared.domain.ranking.question import Asked
from shared.domain.ranking.weights import SHIPPED, Signal

_LEAST = 0.1
"""The share of the score from which a signal is worth telling."""

_CLOSE = 0.7
"""From which place between the least and the most alike a meaning counts as close."""

_SAYS = {
    Signal.EVENTS: "An event taken from it matches.",
    Signal.SAID_THEN: "Said in or right after the month or year asked for.",
    Signal.TELLS_TIME: "Tells a time, which the query asks for.",
    Signal.ANSWERS: "Follows a matching question.",
    Signal.SITTING: "Its conversation at that time holds the best matches.",
}


def match_reason(asked: Asked, one: Ranked, words: tuple[str, ...]) -> str:
    """Return in a few sentences what led to a message; `words` are those of the query it holds."""
    said = [_words(one, words)]
    if one.signals.get(Signal.SPEAKER):
        said.append(_speaker(asked, one))
    if one.signals.get(Signal.MEANING, 0.0) >= _CLOSE:
        said.append("Close to the query in meaning.")
    said += [text for signal, text in _SAYS.items() if _share(one, signal) >= _LEAST]
    return " ".join(text for text in said if text)


def _words(one: Ranked, words: tuple[str, ...]) -> str:
    if words:
        return f"Matches {', '.join(repr(word) for word in words)}."
    return "Stands beside a message that matches." if one.signals[Signal.WORDS] > 0 else ""


def _speaker(asked: Asked, one: Ranked) -> str:
    if one.said.speaker is not None:
        return f"Said by {one.said.speaker}, whom the query names."
    return f"Said by the {asked.role}, whose words the query asks for."


def _share(one: Ranked, signal: Signal) -> float:
    if one.score <= 0:
        return 0.0
    return SHIPPED.get(signal, 0.0) * one.signals.get(signal, 0.0) / one.score
