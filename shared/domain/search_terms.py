"""The terms that search indexes and asks for (D22): words stemmed, n-grams, folded diacritics.

The same cut serves both sides. A folded variant carries the prefix `f:`, so that an exact
spelling outranks it. Terms of one text repeat as often as they occur; none is longer than 64
code points.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer

from shared.domain.asian_terms import ASIAN_RUN, FULL, STOP, asian_terms
from shared.domain.stop_words import CONTRACTED, ENGLISH
from shared.domain.tokens import normalise, words

FOLDED_PREFIX = "f:"
FOLDED_WEIGHT = 0.4
"""What a match counts that only holds once diacritics are folded away."""

MAX_TERM_LENGTH = 64

_MAX_JOINED = 40
_TYPOGRAPHIC = str.maketrans("‘’ʼ‐‑‒−", "'''----")
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe"}
)
_DIACRITICS = re.compile("[\u0300-\u036f]+")
_HYPHENATED = re.compile(r"\w+(?:-\w+)+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_INITIALS = re.compile(r"\w(?:\.\w)+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_LEADING_ZERO = re.compile(r"0\d")
_ELISION = re.compile(r"(?:[cdjlmnst]|qu)'(\w{2,})")
_JOINTS = re.compile(r"[._:,·]+")


def search_terms(text: str) -> list[str]:
    """Return the terms a text is indexed under, in order of kind, with repetition.

    Function words are left out, unless the text holds nothing else. Punctuation alone: [].
    """
    told: list[str] = []
    functional: list[str] = []
    for term, weight in _weighted_terms(text):
        (told if weight > STOP else functional).append(term)
        if weight > STOP:
            told.extend(_folded_variant(term))
    return told or functional


def query_terms(text: str) -> dict[str, float]:
    """Return the terms a query asks for, each with its weight above 0 and at most 1.

    Every word is also asked for under its folded form, at a lower weight: `cafe` finds `café`
    and `café` finds `cafe`, both below an exact spelling. A query of function words alone asks
    for those; punctuation alone asks for nothing.
    """
    told: dict[str, float] = {}
    functional: dict[str, float] = {}
    for term, weight in _weighted_terms(text):
        if weight > STOP:
            told[term] = max(weight, told.get(term, 0.0))
        else:
            functional[term] = FULL
    asked = told or functional
    for term in list(asked):
        if not ASIAN_RUN.match(term):
            folded = _fold(term)
            asked.setdefault(folded, FOLDED_WEIGHT)
            asked.setdefault(FOLDED_PREFIX + folded, FOLDED_WEIGHT)
    return asked


def matched_terms(query: Mapping[str, float], document: Collection[str]) -> tuple[str, ...]:
    """Return which asked terms a document holds, as a reader would write them, each once."""
    held = frozenset(document)
    found = (term.removeprefix(FOLDED_PREFIX) for term in query if term in held)
    return tuple(dict.fromkeys(found))


def _weighted_terms(text: str) -> Iterator[tuple[str, float]]:
    normalised = normalise(text.translate(_TYPOGRAPHIC)).translate(_TYPOGRAPHIC)
    spaced = ASIAN_RUN.sub(" ", normalised)
    for word in words(spaced):
        for term in _word_terms(word):
            yield term[:MAX_TERM_LENGTH], STOP if _is_functional(term) else FULL
    for match in _HYPHENATED.finditer(spaced):
        joined = match.group().replace("-", "")
        if len(joined) <= _MAX_JOINED:
            yield _stem(joined), FULL
    for run in ASIAN_RUN.finditer(normalised):
        for term, weight in asian_terms(run.group()):
            yield term[:MAX_TERM_LENGTH], weight


@lru_cache(maxsize=65_536)
def _word_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one word: function words as they are, others stemmed."""
    if _is_functional(word):
        return (word,)
    if _THOUSANDS.fullmatch(word):
        return (word.replace(",", ""),)
    if version := _VERSION.fullmatch(word):
        return (version[1],)
    if _INITIALS.fullmatch(word):
        return (word.replace(".", ""),)
    if ordinal := _ORDINAL.fullmatch(word):
        return (ordinal[1],)
    if _LEADING_ZERO.fullmatch(word):
        return (word[1],)
    if elided := _ELISION.fullmatch(word):
        return (_stem(elided[1]),)
    parts = [part for part in _JOINTS.split(word.replace("_", ".")) if part]
    if len(parts) > 1:
        return (word, *(term for part in parts for term in _word_terms(part)))
    return (_stem(word),)


def _is_functional(word: str) -> bool:
    base, apostrophe, ending = word.partition("'")
    return word in ENGLISH or bool(apostrophe and ending in CONTRACTED and base in ENGLISH)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    bare = word.removesuffix("'s")
    if not (bare.isascii() and bare.isalpha()):
        return bare
    # A stemmer carries state, so a shared one would mix up the words of two threads.
    return str(EnglishStemmer().stemWord(bare))


@lru_cache(maxsize=65_536)
def _fold(term: str) -> str:
    if term.isascii():
        return term
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFD", term)).translate(_LETTERS)
    return _stem(unicodedata.normalize("NFC", bare))


def _folded_variant(term: str) -> Iterator[str]:
    folded = _fold(term)
    if folded != term:
        yield FOLDED_PREFIX + folded[: MAX_TERM_LENGTH - len(FOLDED_PREFIX)]
