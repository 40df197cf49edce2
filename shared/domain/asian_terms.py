"""N-grams for scripts that are written without spaces or with glued particles (D22).

Han: single characters and pairs. Kana: pairs of katakana; hiragana counts only beside a
telling character, so that an overlap of grammar alone is no match. Hangul: pairs of syllables,
and the run without its particle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from shared.domain.scripts import HAN, HANGUL, HIRAGANA, KATAKANA
from shared.domain.stop_words import (
    HAN_CHARACTERS,
    HAN_PAIRS,
    HIRAGANA_PARTICLES,
    KOREAN_PARTICLES,
)

ASIAN_RUN = re.compile(f"[{HAN}{HIRAGANA}{KATAKANA}{HANGUL}]+")

FULL = 1.0
MIXED = 0.6
"""A Han character with the kana that inflects it: telling, but shared by whole families."""
SINGLE = 0.3
"""One character of a longer run: it belongs to too many words to count fully."""
STOP = 0.0

_PIECES = re.compile(
    f"(?P<han>[{HAN}]+)|(?P<katakana>[{KATAKANA}]+)|(?P<hangul>[{HANGUL}]+)|[{HIRAGANA}]+"
)
_HIRAGANA = re.compile(f"[{HIRAGANA}]")


def asian_terms(run: str) -> Iterator[tuple[str, float]]:
    """Yield the terms of one run of East Asian script, each with its weight in a query.

    Weight 0 marks what says nothing by itself (function characters and pairs).
    """
    for piece in _PIECES.finditer(run):
        text = piece.group()
        match piece.lastgroup:
            case "han":
                yield from _han_terms(text)
                yield from _inflected(text[-1], run[piece.end() : piece.end() + 1])
            case "katakana":
                yield from _katakana_terms(text)
            case "hangul":
                yield from _hangul_terms(text)
            case _:
                continue  # hiragana alone is grammar: an overlap of it is no match


def _han_terms(run: str) -> Iterator[tuple[str, float]]:
    single = FULL if len(run) == 1 else SINGLE
    for char in run:
        yield char, STOP if char in HAN_CHARACTERS else single
    for pair in _pairs(run):
        yield pair, _pair_weight(pair)


@lru_cache(maxsize=262_144)
def _pair_weight(pair: str) -> float:
    says_nothing = pair in HAN_PAIRS or HAN_CHARACTERS.issuperset(pair)
    return STOP if says_nothing else FULL


def _inflected(last: str, following: str) -> Iterator[tuple[str, float]]:
    if _HIRAGANA.match(following) and following not in HIRAGANA_PARTICLES:
        yield last + following, MIXED


def _katakana_terms(run: str) -> Iterator[tuple[str, float]]:
    if len(run) != 2:
        yield run, FULL
    for pair in _pairs(run):
        yield pair, FULL


def _hangul_terms(run: str) -> Iterator[tuple[str, float]]:
    if len(run) != 2:
        yield run, FULL
    stem = _without_particle(run)
    if stem != run and len(stem) != 2:
        # One syllable left over may be a noun or half of one: 집에 is a house, 회의 no 회.
        yield stem, FULL if len(stem) > 1 else SINGLE
    for pair in _pairs(run):
        yield pair, FULL


def _without_particle(run: str) -> str:
    for particle in KOREAN_PARTICLES:
        if len(run) > len(particle) and run.endswith(particle):
            return run[: -len(particle)]
    return run


def _pairs(run: str) -> Iterator[str]:
    for index in range(len(run) - 1):
        yield run[index : index + 2]
