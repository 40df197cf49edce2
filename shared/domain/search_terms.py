"""The terms that search indexes and asks for (D22): words stemmed, n-grams, folded diacritics.

The same cut serves both sides. A folded variant carries the prefix `f:`, so that an exact
spelling outranks it. Terms of one text repeat as often as they occur; none is longer than 64
code points.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer

from shared.domain.asian_terms import ASIAN_RUN, FULL, STOP, asian_terms
from shared.domain.stop_words import CONTRACTED, ENGLISH
from shared.domain.tokens import normalise, words

FOLDED_PREFIX = "f:"
FOLDED_WEIGHT = 0.4
"""What a match counts that only holds once diacritics are folded away."""

MAX_TERM_LENGTH = 64

MAX_INDEXED_CHARS = 200_000
"""How many code points of a text are cut into terms. What follows is stored and read as ever, but
is not found by its words: one message must not hold up everybody else's."""

_MAX_JOINED = 40
_WHOLE = MAX_TERM_LENGTH - len(FOLDED_PREFIX)
_TYPOGRAPHIC = str.maketrans("‘’ʼ‐‑‒−", "'''----")
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe"}
)
_DIACRITICS = re.compile("[\u0300-\u036f]+")
# Possessive, and only from where a word begins: else a long run is tried from each of its letters.
_HYPHENATED = re.compile(r"(?<!\w)\w++(?:-\w++)+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_LEADING_ZERO = re.compile(r"0\d")
_ELISION = re.compile(r"(?:[cdjlmnst]|qu)'(\w{2,})")
_JOINTS = re.compile(r"[._:,·]+")


@dataclass(frozen=True, slots=True)
class _Term:
    text: str
    weight: float
    surface: str
    """How the text itself writes it: stems are for machines."""


def search_terms(text: str) -> list[str]:
    """Return the terms a text is indexed under, in order of kind, with repetition.

    Function words are left out, unless the text holds nothing else. Punctuation alone: [].
    Only the first `MAX_INDEXED_CHARS` code points are read.
    """
    text = text[:MAX_INDEXED_CHARS]
    normalised = _normalised(text)
    spaced = ASIAN_RUN.sub(" ", normalised)
    found: list[str] = []
    for word in words(spaced):
        cut = _indexed_word if len(word) <= MAX_TERM_LENGTH else _indexed_word.__wrapped__
        found += cut(word)
    for match in _HYPHENATED.finditer(spaced):
        if joined := _joined(match.group()):
            found += _variants(joined)
    for run in ASIAN_RUN.finditer(normalised):
        found += _asian_variants(run.group())
    if found:
        return found
    return [variant for term in _telling(_terms(text)) for variant in _variants(term.text)]


class TermFinder:
    """Looks for some terms in texts, and remembers what it read: names and keys come often.

    Made for one question, as it never forgets.
    """

    def __init__(self, wanted: Collection[str]) -> None:
        self.wanted = frozenset(wanted)
        self._initials = {term.removeprefix(FOLDED_PREFIX)[:1] for term in wanted}
        self._known: dict[str, frozenset[str]] = {}

    def held(self, text: str) -> frozenset[str]:
        """Return which of the terms a text is indexed under, as `search_terms` cuts it."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._read(text) if self.wanted else frozenset()
        return found

    def _read(self, text: str) -> frozenset[str]:
        normalised = _normalised(text[:MAX_INDEXED_CHARS])
        if ASIAN_RUN.search(normalised) or _HYPHENATED.search(normalised):
            return self.wanted.intersection(search_terms(text))
        is_telling = False
        found: set[str] = set()
        for word in words(normalised):
            # A stemmer takes endings alone: a plain word of another first letter cannot match.
            if word[0] not in self._initials and word.isascii() and word.isalpha():
                is_telling = is_telling or not _is_functional(word)
            else:
                cut = _indexed_word if len(word) <= MAX_TERM_LENGTH else _indexed_word.__wrapped__
                terms = cut(word)
                is_telling = is_telling or bool(terms)
                found.update(terms)
        # A text of function words alone is indexed under those.
        return self.wanted.intersection(found if is_telling else search_terms(text))


def query_terms(text: str) -> dict[str, float]:
    """Return the terms a query asks for, each with its weight above 0 and at most 1.

    Every word is also asked for under its folded form, at a lower weight: `cafe` finds `café`
    and `café` finds `cafe`, both below an exact spelling. A query of function words alone asks
    for those; punctuation alone asks for nothing.
    """
    asked: dict[str, float] = {}
    for term in _telling(_terms(text)):
        asked[term.text] = max(term.weight, asked.get(term.text, 0.0))
    for word in list(asked):
        for variant in _folded_queries(word):
            asked.setdefault(variant, FOLDED_WEIGHT)
    return asked


def matched_terms(query: str, document: Collection[str]) -> tuple[str, ...]:
    """Return which words of a query a document's terms hold, as the query writes them.

    A character that only matched as part of a longer match is left out.
    """
    return words_held(query_words(query), document)


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word as a query writes it, and the terms under which a document may hold it."""

    surface: str
    terms: tuple[str, ...]


def query_words(query: str) -> tuple[QueryWord, ...]:
    """Return the words of a query, to be looked for in many documents."""
    return tuple(
        QueryWord(term.surface, (term.text, *_folded_queries(term.text)))
        for term in _telling(_terms(query))
    )


def words_held(asked: Iterable[QueryWord], document: Collection[str]) -> tuple[str, ...]:
    """Return which words of a query a document's terms hold, as `matched_terms` does."""
    held = frozenset(document)
    found = dict.fromkeys(word.surface for word in asked if not held.isdisjoint(word.terms))
    return tuple(
        word for word in found if not any(word != other and word in other for other in found)
    )


def _telling(terms: Iterable[_Term]) -> list[_Term]:
    """Return the terms that say something, or all of them where none does."""
    found = list(terms)
    telling = [term for term in found if term.weight > STOP]
    return telling or [replace(term, weight=FULL) for term in found]


def _asian_variants(run: str) -> Iterator[str]:
    for term, weight in asian_terms(run):
        if weight > STOP:
            # Han, kana and Hangul carry no diacritics to fold; only what is cut has a variant.
            yield from (term,) if len(term) <= _WHOLE else _variants(term[:MAX_TERM_LENGTH])


def _normalised(text: str) -> str:
    return _typographic(normalise(_typographic(text)))


def _typographic(text: str) -> str:
    return text if text.isascii() else text.translate(_TYPOGRAPHIC)


def _joined(hyphenated: str) -> str:
    """Return the term of the parts written as one word; blank where that is too long for one."""
    joined = hyphenated.replace("-", "")
    return _stem(joined) if len(joined) <= _MAX_JOINED else ""


def _terms(text: str) -> Iterator[_Term]:
    normalised = _normalised(text[:MAX_INDEXED_CHARS])
    spaced = ASIAN_RUN.sub(" ", normalised)
    for word in words(spaced):
        weight = STOP if _is_functional(word) else FULL
        # What is longer than any word is remembered by nobody: a cache of blobs has no bound.
        cut = _word_terms if len(word) <= MAX_TERM_LENGTH else _word_terms.__wrapped__
        for term in cut(word):
            yield _Term(term[:MAX_TERM_LENGTH], weight, word)
    for match in _HYPHENATED.finditer(spaced):
        if joined := _joined(match.group()):
            yield _Term(joined, FULL, match.group())
    for run in ASIAN_RUN.finditer(normalised):
        for term, weight in asian_terms(run.group()):
            yield _Term(term[:MAX_TERM_LENGTH], weight, term)


@lru_cache(maxsize=65_536)
def _indexed_word(word: str) -> tuple[str, ...]:
    """Return what a word is indexed under, variants included; nothing for a function word."""
    if _is_functional(word):
        return ()
    cut = _word_terms if len(word) <= MAX_TERM_LENGTH else _word_terms.__wrapped__
    return tuple(variant for term in cut(word) for variant in _variants(term[:MAX_TERM_LENGTH]))


@lru_cache(maxsize=65_536)
def _word_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one word: function words as they are, others stemmed."""
    if _is_functional(word):
        return (word,)
    if _THOUSANDS.fullmatch(word):
        return (word.replace(",", ""),)
    if _INITIALS.fullmatch(word):
        return (word.replace(".", ""),)
    if _LEADING_ZERO.fullmatch(word):
        return (word[1],)
    if told := _VERSION.fullmatch(word) or _ORDINAL.fullmatch(word):
        return (told[1],)
    if elided := _ELISION.fullmatch(word):
        return (_stem(elided[1]),)
    parts = [part for part in _JOINTS.split(word) if part]
    if len(parts) > 1:
        inner = (term for part in parts if not _is_functional(part) for term in _word_terms(part))
        return (word, *inner)
    return (_stem(word),)


def _is_functional(word: str) -> bool:
    base, apostrophe, ending = word.partition("'")
    return word in ENGLISH or bool(apostrophe and ending in CONTRACTED and base in ENGLISH)


def _stem(word: str) -> str:
    """Return a word without its ending; a longer run of letters, such as encoded data, as it is.

    A stemmer's time grows with the square of the length, and no English word is that long.
    """
    return _short_stem(word) if len(word) <= MAX_TERM_LENGTH else word


@lru_cache(maxsize=65_536)
def _short_stem(word: str) -> str:
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
    return _stem(unicodedata.normalize("NFC", bare))[: MAX_TERM_LENGTH - len(FOLDED_PREFIX)]


@lru_cache(maxsize=262_144)
def _variants(term: str) -> tuple[str, ...]:
    folded = _fold(term)
    return (term,) if folded == term else (term, FOLDED_PREFIX + folded)


def _folded_queries(term: str) -> tuple[str, ...]:
    """Return under which other terms a word may be found once diacritics are ignored."""
    if not term.isalpha() or ASIAN_RUN.match(term):
        return ()
    folded = _fold(term)
    return (folded, FOLDED_PREFIX + folded)
