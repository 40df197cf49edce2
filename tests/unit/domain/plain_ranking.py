"""The ranking of messages in its plainest form, each signal by its definition, for comparison.

What the product does faster must give the same order, the same signals and the same scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

from shared.domain.bm25 import Bm25Stats
from shared.domain.ranking.question import Asked, named_speakers, said_then
from shared.domain.ranking.said import SITTING, Said
from shared.domain.ranking.weights import K1, NAME, NEARNESS, SHIPPED, B, Signal
from shared.domain.ranking.wording import tells_time
from shared.domain.search_terms import search_terms

Plain = tuple[str, float, dict[Signal, float]]
Beside = tuple[Said | None, Said | None, Said | None]


def plainly_ranked(asked: Asked, messages: Iterable[Said], stats: Bm25Stats) -> list[Plain]:
    """Return (id, score, signals) of the messages that answer a question, best first."""
    known = {m.id: m for m in messages}
    told = [_named(asked, m) for m in known.values()]
    found: dict[str, dict[Signal, float]] = {}
    sitting_of: dict[str, int] = {}
    for number, sitting in enumerate(_sittings(told)):
        for place, said in enumerate(sitting):
            beside = _beside(sitting, place)
            words = _bm25(asked, _joined(said, beside), _length(said, beside), stats, joined=True)
            if words > 0 or said.events > 0:
                found[said.id] = _signals(asked, said, beside[0], stats) | {Signal.WORDS: words}
                sitting_of[said.id] = number
    for signal in (Signal.WORDS, Signal.EVENTS, Signal.ANSWERS):
        best = max((held[signal] for held in found.values()), default=0.0)
        for held in found.values():
            held[signal] = held[signal] / best if best > 0 else 0.0
    _add_sittings(found, sitting_of)
    _add_speakers(asked, found, known)
    ranked = [
        (name, sum(SHIPPED[s] * value for s, value in held.items()), held)
        for name, held in found.items()
    ]
    return sorted(ranked, key=lambda one: _order(known[one[0]], one[1]))


def _named(asked: Asked, said: Said) -> Said:
    names = [t for t in search_terms(said.speaker or "") if t in asked.terms]
    return said._replace(held={**said.held, **{t: said.held.get(t, 0.0) + NAME for t in names}})


def _sittings(messages: Sequence[Said]) -> list[list[Said]]:
    found: list[list[Said]] = []
    for said in sorted(messages, key=lambda m: (m.thread, m.turn, m.position)):
        last = found[-1][-1] if found else None
        together = last is not None and last.thread == said.thread
        if together and last is not None and last.said_at and said.said_at:
            together = abs(said.said_at - last.said_at) <= SITTING
        found[-1].append(said) if together else found.append([said])
    return found


def _beside(sitting: Sequence[Said], place: int) -> Beside:
    def step(start: int, by: int) -> Said | None:
        other = start + by
        if not 0 <= other < len(sitting) or abs(sitting[other].turn - sitting[start].turn) > 1:
            return None
        return sitting[other]

    previous = step(place, -1)
    return previous, step(place, +1), None if previous is None else step(place - 1, -1)


def _lenders(beside: Beside) -> list[tuple[Said, float]]:
    weights = (NEARNESS.previous, NEARNESS.following, NEARNESS.before_previous)
    return [(m, w) for m, w in zip(beside, weights, strict=True) if m is not None]


def _joined(said: Said, beside: Beside) -> dict[str, float]:
    held = dict(said.held)
    for lender, weight in _lenders(beside):
        for term, frequency in lender.held.items():
            held[term] = held.get(term, 0.0) + weight * frequency
    return held


def _length(said: Said, beside: Beside) -> float:
    return said.length + sum(weight * lender.length for lender, weight in _lenders(beside))


def _worth(asked: Asked, stats: Bm25Stats) -> dict[str, float]:
    known = stats.document_frequencies
    return {t: w * stats.idf(t) for t, w in asked.terms.items() if known.get(t, 0) > 0}


def _bm25(
    asked: Asked, held: Mapping[str, float], length: float, stats: Bm25Stats, *, joined: bool
) -> float:
    mean = (stats.average_length or 1.0) * (1 + NEARNESS.total if joined else 1)
    damping = K1 * (1 - B + B * length / mean)
    worth = _worth(asked, stats)
    return sum(worth[t] * f * (K1 + 1) / (f + damping) for t, f in held.items() if t in worth)


def _signals(
    asked: Asked, said: Said, previous: Said | None, stats: Bm25Stats
) -> dict[Signal, float]:
    worth = _worth(asked, stats)
    total = sum(worth.values())
    led = previous is not None and re.search("[?？]", previous.content) is not None
    ends = re.findall(r"[.!?。！？]+", said.content[:4_000])
    signals = {
        Signal.COVERAGE: sum(worth[t] for t in said.held if t in worth) / total if total else 0.0,
        Signal.EVENTS: said.events,
        Signal.ANSWERS: _bm25(asked, previous.held, previous.length, stats, joined=False)
        if previous is not None and led
        else 0.0,
        Signal.LENGTH: min(1.0, len(said.content[:300].encode()) / 300),
        Signal.ONLY_ASKS: sum("?" in e or "？" in e for e in ends) / len(ends) if ends else 0.0,
    }
    if asked.is_about_time:
        signals[Signal.TELLS_TIME] = float(tells_time(said.content))
    if asked.months or asked.years:
        signals[Signal.SAID_THEN] = said_then(asked, said.said_at)
    return signals


def _add_sittings(found: Mapping[str, dict[Signal, float]], sitting_of: Mapping[str, int]) -> None:
    words: dict[int, list[float]] = {}
    for name, held in found.items():
        words.setdefault(sitting_of[name], []).append(held[Signal.WORDS])
    told = {number: sum(nlargest(3, scores)) for number, scores in words.items()}
    best = max(told.values(), default=0.0)
    if len(told) > 1 and best > 0:
        for name, held in found.items():
            held[Signal.SITTING] = told[sitting_of[name]] / best


def _add_speakers(
    asked: Asked, found: Mapping[str, dict[Signal, float]], known: Mapping[str, Said]
) -> None:
    named = named_speakers(asked, {s for n in found if (s := known[n].speaker)})
    for name, held in found.items():
        said = known[name]
        if named:
            held[Signal.SPEAKER] = float(said.speaker in named)
        elif asked.role is not None and said.speaker is None:
            held[Signal.SPEAKER] = 0.5 * (said.role == asked.role)


def _order(said: Said, score: float) -> tuple[float, float, int, int, str]:
    moment = said.said_at.timestamp() if said.said_at else 0.0
    return -round(score, 9), -moment, -said.turn, -said.position, said.id
