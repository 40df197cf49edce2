"""What a question asks for, read by rule: whether it asks when, and the names it names.

English and Chinese. Meant to warn, so it prefers silence over a false alarm.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_ASKS_WHEN = re.compile(
    r"\b(?:(?:what|which)(?:'?s)?\s+(?:\w+\s+){0,3}?(?:date|day|time|year|month|week|weekday|season)"
    r"|how\s+long\s+ago|since\s+when|until\s+when|by\s+when|when\s+exactly)\b"
    r"|什么时候|什么时间|什么日子|啥时候|何时|何日|何年|哪天|哪一天|哪年|哪一年|哪个月|几月"
    r"|几号|几点|几时|星期几|周几|礼拜几|多久以?前",
    re.IGNORECASE,
)
_WHEN = re.compile(r"\bwhen\b", re.IGNORECASE)
_OTHER_INTERROGATIVE = re.compile(r"\b(?:what|who|whom|whose|where|why|how|which)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[?!。？！])\s*|\n+")

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[0-9]+(?:[.,:/-][0-9]+)*(?![A-Za-z0-9_])")
_LETTER = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_NAME = re.compile(rf"(?<![{_LETTER}0-9_])[{_LETTER}][{_LETTER}0-9_-]*(?:[’'][{_LETTER}]+)?")
_QUOTED = re.compile(r"[「『《“\"]([^「」『』《》“”\"]{1,40})[」』》”\"]")
_POSSESSIVE = re.compile(r"[’']s?$", re.IGNORECASE)

_GRAMMAR = """
    a about according after all also am an and any anyone are around as ask at be because been
    before being between both but by can could dear describe did do does during each else
    every explain find first for from get give had has have he her hers hi hey hello him his
    how i if in into is it its last let list look many may me might mine more most much must
    my name next no not now of on once one only or our ours out over please recall remember
    remind say search second see shall she should show since so some summarise summarize
    tell than that the their theirs them then there these they this those to today tomorrow
    under until up us use was we were what whats when whens where wheres which while who whom
    whose whos why will with without would yes yesterday yet you your yours ok okay thanks
    i'm i've i'd i'll
"""
_NO_NAMES = frozenset(_GRAMMAR.split())
_NUMBER_WORDS = {
    "1": ("one", "一"),
    "2": ("two", "二", "两"),
    "3": ("three", "三"),
    "4": ("four", "四"),
    "5": ("five", "五"),
    "6": ("six", "六"),
    "7": ("seven", "七"),
    "8": ("eight", "八"),
    "9": ("nine", "九"),
    "10": ("ten", "十"),
    "11": ("eleven", "十一"),
    "12": ("twelve", "十二"),
}


def asks_when(question: str) -> bool:
    """Tell whether a question asks for a time; "what did he say when …" does not."""
    if _ASKS_WHEN.search(question):
        return True
    return any(_sentence_asks_when(part) for part in _SENTENCE_END.split(question))


def named_terms(question: str) -> tuple[str, ...]:
    """Return the names, quoted words and numbers of a question, in order, without repeats.

    A name is a word in capitals or with a capital first letter that is no question word or
    other word of grammar.
    """
    found: dict[str, str] = {}
    for pattern in (_QUOTED, _NAME, _NUMBER):
        for match in pattern.finditer(question):
            term = match.group(match.lastindex or 0)
            if pattern is _NAME:
                term = _POSSESSIVE.sub("", term)
            if pattern is not _NAME or _is_name(term):
                found.setdefault(_folded(term), term)
    return tuple(found.values())


def contains_term(texts: Iterable[str], term: str) -> bool:
    """Tell whether any text holds the term as a whole word, case and width aside.

    Numbers up to twelve are also found written out, in English or Chinese.
    """
    spellings = (term, *_NUMBER_WORDS.get(term, ()))
    patterns = [_whole_word(spelling) for spelling in spellings]
    return any(pattern.search(_folded(text)) for text in texts for pattern in patterns)


def _whole_word(term: str) -> re.Pattern[str]:
    wanted = re.escape(_folded(term))
    # Words of other scripts stand without blanks, so only ASCII ones have edges to check.
    return re.compile(rf"(?<![a-z0-9_]){wanted}(?![a-z0-9_])" if term.isascii() else wanted)


def _sentence_asks_when(sentence: str) -> bool:
    found = _WHEN.search(sentence)
    if found is None:
        return False
    return not _OTHER_INTERROGATIVE.search(sentence, 0, found.start())


def _is_name(word: str) -> bool:
    if not word[0].isupper() or len(word) < 2:
        return False
    return _folded(word).replace("’", "'") not in _NO_NAMES


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
