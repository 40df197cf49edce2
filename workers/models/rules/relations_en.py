"""Relations that English statements express, as readings of one sentence each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_S: Final = r"(?P<s>(?:The user(?: and others)?|the user|[A-Z][\w-]*(?:\s[A-Z0-9][\w.-]*){0,3}))"
_GAP: Final = r"(?!['’]s\b)[^,.;!?]{0,60}?"
_N: Final = r"(?P<v>[A-Z][\w&'-]*(?:\s(?:of\s(?:the\s)?)?[A-Z0-9][\w.&'-]*){0,5})"
_ADV: Final = (
    r"(?:\s(?:now|also|just|still|currently|really|recently|always|already|has|have|is|are)){0,4}"
)
_WORD: Final = r"[A-Za-z][\w.+#@/-]*(?:\s\d+(?:\.\d+)*)?"


@dataclass(frozen=True, slots=True)
class Reading:
    """One relation found in a sentence: `name` tells how it is entered in the graph."""

    name: str
    subject: str
    value: str
    key: str = ""
    old: str = ""


_PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "works_at",
        re.compile(rf"{_S}{_ADV}\s(?:works?|working|worked)\s(?:now\s)?(?:at|for)\s(?:the\s)?{_N}"),
    ),
    ("lives_in", re.compile(rf"{_S}{_ADV}\s(?:lives?|living)\s(?:now\s)?in\s(?:the\s)?{_N}")),
    ("lives_in", re.compile(rf"{_S}{_ADV}\smoved\s(?:from\s[\w\s]+?\s)?to\s{_N}")),
    ("member_of", re.compile(rf"{_S}{_ADV}\s(?:joined|joins|is joining)\s(?:the\s)?{_N}")),
    (
        "leads",
        re.compile(
            rf"{_S}{_GAP}\s(?:leads|is leading|heads|runs|is in charge of)\s"
            rf"(?P<v>the\s[\w\s-]{{2,40}}?|{_N.replace('?P<v>', '?:')})(?=[,.;]|$"
            rf"|\sand\b|\sof\b)"
        ),
    ),
    (
        "takes_over",
        re.compile(rf"{_S}{_GAP}\s(?:takes|took)\sover\s(?P<v>[\w\s-]{{2,40}}?)(?=[,.;]|$)"),
    ),
    (
        "visited",
        re.compile(
            rf"{_S}{_GAP}\b(?:visited|went to|have been to|has been to|was in|were in"
            rf"|travel+ed to|flew to|(?:trip|vacation) (?:to|in))\s(?:the\s)?{_N}"
        ),
    ),
    (
        "uses_as",
        re.compile(
            rf"{_S}{_GAP}\b(?:uses?|using|chose|picked|selected)\s"
            rf"(?P<v>{_WORD})\sas\s(?:the|their|a|an)\s(?P<k>[\w\s-]{{2,40}}?)(?:\s"
            rf"(?:of|for)\s(?P<o>[A-Z][\w-]*))?(?=[,.;]|$)"
        ),
    ),
    (
        "uses",
        re.compile(
            rf"{_S}{_ADV}\s(?:(?:decided|agreed|switched)\sto\s)?(?:uses?|using)\s"
            rf"(?!to\b)(?P<v>{_WORD})(?:\sfor\s(?P<o>[A-Z][\w-]*))?"
        ),
    ),
    (
        "switched",
        re.compile(
            rf"{_S}{_ADV}\s(?:switched|migrated|moved|changed|converted)\s"
            rf"(?:[\w\s]{{0,30}}?\s)?from\s(?P<old>{_WORD})\s(?:over\s)?to\s"
            rf"(?P<v>{_WORD})"
        ),
    ),
    (
        "switched",
        re.compile(rf"{_S}{_ADV}\sreplaced\s(?P<old>{_WORD})\s(?:with|by)\s(?P<v>{_WORD})"),
    ),
    (
        "property",
        re.compile(
            r"\b[Tt]he\s(?P<k>[a-z][\w\s-]{1,30}?)\sof\s(?:the\s)?(?P<s>[A-Z][\w-]*"
            r"(?:\s[A-Z0-9][\w.]*)*)\sis\s(?:now\s)?(?P<v>[A-Z0-9][\w.+#-]*"
            r"(?:\s[A-Z0-9][\w.+#-]*)*)"
        ),
    ),
    (
        "called",
        re.compile(
            rf"\b[Tt]he\s(?P<k>[\w\s-]{{2,40}}?)\s(?:is|are)\s(?:now\s)?(?:called"
            rf"|named)\s{_N}(?P<s>)"
        ),
    ),
    (
        "located",
        re.compile(
            r"\b(?P<s>(?:[Tt]he|[Oo]ur|[Tt]he user's"
            r"|[A-Z]\w+'s)\s[a-z][\w\s-]{1,40}?)\s(?:is|are)\s(?:now\s)?(?P<v>(?:on"
            r"|in|at)\s(?:the\s)?[\w\s'-]{2,50}?)(?=[,.;]|$)"
        ),
    ),
    (
        "has",
        re.compile(
            r"^(?P<s>[Tt]he\s[a-z][\w\s-]{1,40}?)\shas\s(?:now\s)?(?P<v>"
            r"(?:an?\s)?[\w\s-]{2,40}?)(?=[,.;]|$)"
        ),
    ),
    (
        "allergy",
        re.compile(
            rf"{_S}{_GAP}\ballergic\sto\s(?P<v>[\w\s,-]{{2,60}}?)(?=,?\snot\s|,\s(?:so|but|and)"
            rf"|[.;!]|$|\sso\b)"
        ),
    ),
    (
        "allergy",
        re.compile(rf"{_S}{_ADV}\s(?:has|have)\s(?:a|an)\s(?:\w+\s)?(?P<v>[\w-]+)\sallergy\b"),
    ),
    (
        "diet",
        re.compile(rf"{_S}{_ADV}\s(?:a\s|an\s)?(?P<v>vegetarian|vegan|pescatarian|teetotal)\b"),
    ),
    (
        "likes",
        re.compile(
            rf"{_S}{_ADV}\s(?P<k>prefers?|likes?|loves?|enjoys?|adores?|hates?"
            rf"|dislikes?)\s(?!them\b|it\b|this\b|that\b)(?P<v>[^.;!?]{{2,80}})"
        ),
    ),
    (
        "rule",
        re.compile(
            r"(?P<s>)\b[Pp]lease\s(?P<v>(?:always|never|keep|do not|don't|call|stop"
            r"|use|answer|reply|write)\s"
            r"[^,.;!?]{2,80})"
        ),
    ),
    (
        "kin",
        re.compile(
            r"(?P<s>[Tt]he user|[A-Z][a-z]+)'s\s(?:\w+\s)?(?P<k>sister|brother"
            r"|mother|father|mom|mum|dad|wife|husband|son|daughter|aunt|uncle|cousin"
            r"|niece|nephew|friend|colleague|boss|partner|girlfriend|boyfriend|dog"
            r"|cat)\s(?:is\s(?:called|named)\s|named\s|,\s)?(?P<v>(?-i:[A-Z][a-z]+))"
        ),
    ),
)


_DENIED: Final = re.compile(r"\b(?:not|never|no longer|neither)\b|n['’]t\b", re.IGNORECASE)


def readings_of(sentence: str) -> list[Reading]:
    """Return the relations of one sentence in the third person, each once."""
    found: dict[Reading, None] = {}
    taken: set[str] = set()
    for name, pattern in _PATTERNS:
        match = pattern.search(sentence)
        # A looser reading of words that a stricter one has taken would say them twice.
        if match is None or (name in taken) or (name == "uses" and taken & {"uses_as", "switched"}):
            continue
        if name == "allergy" and _DENIED.search(sentence, match.start(), match.start("v")):
            continue
        taken.add(name)
        groups = match.groupdict()
        subject = (groups.get("o") if name in ("uses_as", "uses") else None) or groups["s"] or ""
        reading = Reading(
            name,
            subject.strip(),
            (groups["v"] or "").strip(" .,;"),
            (groups.get("k") or "").strip(),
            (groups.get("old") or "").strip(),
        )
        found.setdefault(reading)
    return list(found)
