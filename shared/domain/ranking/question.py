"""What ranking reads in a question beside its words: who, whether it asks when, and which month.

English and Chinese, by rule.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.domain.questions import asks_when
from shared.domain.search_terms import query_terms, search_terms

_MONTHS: Final = "JanFebMarAprMayJunJulAugSepOctNovDec"
_MONTH_NAMES = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"|\b(january|february|april|june|july|august|september|october|november|december)\b"
)
_HAN_MONTHS = re.compile(r"(?<![0-9个])(1[0-2]|0?[1-9])\s?月|(十[一二]?|[一二三四五六七八九])月")
_HAN_DIGITS = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_HAN_DIGITS |= {"十": 10, "十一": 11, "十二": 12}
_YEARS = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_HOW_LONG = re.compile(
    r"\bhow\s+long\b|\bhow\s+many\s+(?:days|weeks|months|years)\b|\bwhen\b|多久|多长时间|几[天年]"
    r"|多少[天年]",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Tt]he user(?:'s)?)\b|我|用户")
_OF_THE_ASSISTANT = re.compile(
    r"\byou(?:'ve| have| had)? (?:\w+ )?(?:said|told|recommended|suggested|mentioned|gave|given"
    r"|provided|listed|explained|wrote|proposed)\b"
    r"|\b(?:did|do|would|could) you (?:\w+ )?(?:say|tell|recommend|suggest|mention|give|provide"
    r"|list|explain|write|propose)\b|\byour (?:\w+ )?(?:recommendation|suggestion|advice|list)s?\b"
    r"|你[^。？?]{0,4}(?:说|告诉|推荐|建议|提到|列)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read once for all candidates. `role` is whose words it asks for, if it says."""

    terms: Mapping[str, float]
    is_about_time: bool
    months: frozenset[int]
    years: frozenset[int]
    role: str | None


def read_question(question: str) -> Asked:
    """Read a question. A month needs its name (or 3月); `may` only counts in capitals."""
    return Asked(
        terms=query_terms(question),
        is_about_time=asks_when(question) or bool(_HOW_LONG.search(question)),
        months=frozenset(_months(question)),
        years=frozenset(int(year) for year in _YEARS.findall(question)),
        role=_role(question),
    )


def named_speakers(asked: Asked, speakers: Collection[str]) -> frozenset[str]:
    """Return the speakers that a question names, none where it names all of them."""
    names = {name: search_terms(name) for name in speakers}
    named = {name for name, terms in names.items() if not asked.terms.keys().isdisjoint(terms)}
    return frozenset() if len(named) == len(names) else frozenset(named)


def said_then(asked: Asked, said_at: datetime | None) -> float:
    """Return 1 for a message of the month and year asked for, .5 for one of the month after.

    What happened in a month is often told in the next one. 0 where nothing is asked for.
    """
    if said_at is None or not (asked.months or asked.years):
        return 0.0
    fits = 1.0
    if asked.months:
        before = (said_at.month - 2) % 12 + 1
        fits = 1.0 if said_at.month in asked.months else 0.5 if before in asked.months else 0.0
    return 0.0 if asked.years and said_at.year not in asked.years else fits


def _months(question: str) -> list[int]:
    named = [match[1] or match[2] for match in _MONTH_NAMES.finditer(question)]
    found = [_MONTHS.index(name[:3].capitalize()) // 3 + 1 for name in named]
    found += [
        int(match[1]) if match[1] else _HAN_DIGITS[match[2]]
        for match in _HAN_MONTHS.finditer(question)
    ]
    return found


def _role(question: str) -> str | None:
    if _OF_THE_ASSISTANT.search(question):
        return "assistant"
    return "user" if _OF_THE_USER.search(question) else None
