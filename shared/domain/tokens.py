"""Lexical primitives: one normal form, word tokens with Han n-grams, and the fuzzy name match.

Total on any Python string. These are the reference tokens that titles, names and structured
filters are compared by; what search indexes is shared.domain.search_terms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from icu4py.breakers import WordBreaker

from shared.domain.scripts import HAN, HIRAGANA, KATAKANA

# ECMAScript's white space: str.split() differs from it at U+001C-001F, U+0085 and U+FEFF.
_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SPACES = re.compile(f"[{_SPACE}]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_HAN_RUN = re.compile(f"[{HAN}]+")
_KANA_KANJI = re.compile(f"[{HAN}{HIRAGANA}{KATAKANA}]")

# Word_Break says ALetter or Numeric although the general category is no letter or digit.
_WORD_SIGNS = re.compile(
    "[\u02c2-\u02c5\u02d2-\u02d7\u02de\u02df\u02e5-\u02eb\u02ed\u02ef-\u02ff\u055a-\u055c\u055e"
    "\u058a\u05f3\u066b\u070f\ua708-\ua716\ua720\ua721\ua789\ua78a\uab5b\u30a0"
    "\U0001f150-\U0001f169\U0001f170-\U0001f189]"
)
# Han script, yet no ideographs: a word only inside a run of kana and kanji.
_ITERATION_MARKS = frozenset("\u3005\u303b")
_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Nd"})
# The rules of UAX #29 as far as ASCII knows them (WB5-WB13b): what most texts are made of.
_ASCII_WORD = re.compile(
    r"[A-Za-z0-9_]++"
    r"(?:(?:(?<=[A-Za-z])[:.'](?=[A-Za-z])|(?<=[0-9])[,;.'](?=[0-9]))[A-Za-z0-9_]++)*+"
)
# A blank ends a segment whatever stands beside it, so ASCII between blanks can be cut apart.
_PIECE = re.compile(r"(?:[\x21-\x7e]++(?![^ ])(?: ++|\Z))++|(?:[^ ]++ *+)")
_LONG_SEGMENT = 64


def normalise(text: str) -> str:
    """Return the form that texts are compared in: NFKC, lower case, single spaces, trimmed."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return _SPACES.sub(" ", folded).strip(" ")


def words(normalised: str) -> Iterator[str]:
    """Yield the word-like segments of the Unicode word break (UAX #29), in order.

    Han, kana and Thai runs are cut by the ICU dictionaries. Lone surrogates end a word.
    """
    text = _SURROGATES.sub("\ufffd", normalised)
    if text.isascii():
        yield from _ascii_words(text)
        return
    for piece in _PIECE.finditer(text):
        plain = piece.group()
        yield from _ascii_words(plain) if plain.isascii() else _broken(plain)


def _ascii_words(text: str) -> Iterator[str]:
    return (word for word in _ASCII_WORD.findall(text) if word != "_")


def _broken(text: str) -> Iterator[str]:
    start = 0
    # The breaker's own offsets count UTF-16 units, so positions are kept by length here.
    for segment in WordBreaker(text, "en"):
        end = start + len(segment)
        if _is_word_like(segment, before=text[start - 1 : start], after=text[end : end + 1]):
            yield segment
        start = end


def reference_tokens(text: str) -> list[str]:
    """Return `word:` tokens, then `han1:`/`han2:` n-grams; a term may repeat (section 14).

    A run of Han characters gives overlapping pairs, a run of one gives that character.
    """
    normalised = normalise(text)
    tokens = [f"word:{word}" for word in words(normalised)]
    tokens.extend(_han_ngrams(normalised))
    return tokens


def fuzzy_match(candidate: str, requested: str) -> bool:
    """Tell whether one normalised text contains the other; a blank one matches nothing."""
    left, right = normalise(candidate), normalise(requested)
    return bool(left and right) and (left in right or right in left)


def _han_ngrams(normalised: str) -> Iterator[str]:
    for match in _HAN_RUN.finditer(normalised):
        run = match.group()
        if len(run) == 1:
            yield f"han1:{run}"
        for index in range(len(run) - 1):
            yield f"han2:{run[index : index + 2]}"


def _is_word_like(segment: str, *, before: str, after: str) -> bool:
    if segment in _ITERATION_MARKS:
        return bool(_KANA_KANJI.match(before) or _KANA_KANJI.match(after))
    # What is longer than any word is not remembered: a cache of blobs has no bound.
    tells = _has_letters if len(segment) <= _LONG_SEGMENT else _has_letters.__wrapped__
    return tells(segment)


@lru_cache(maxsize=65_536)
def _has_letters(segment: str) -> bool:
    if any(unicodedata.category(char) in _WORD_CATEGORIES for char in segment):
        return True
    if _WORD_SIGNS.search(segment):
        return True
    # WB13a joins connectors, and the rule that joins two of them calls the pair a word.
    return sum(unicodedata.category(char) == "Pc" for char in segment) > 1
