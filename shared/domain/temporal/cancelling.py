"""Words that call something off, in English and Chinese; what a `cancelled` status must rest on."""

from __future__ import annotations

import re

_CALLED_OFF = re.compile(
    r"\bcancel(?:s|l?ed|l?ing|l?ation)?\b|\bcall(?:s|ed|ing)?\s+(?:(?:it|that|this|the|our|my|his|her|"
    r"their|everything)\s+)?(?:\w+\s+)?off\b|\b(?:scrapped|axed|aborted|nixed)\b|\bfell\s+through\b|"
    r"\bno\s+longer\s+(?:happening|going\s+ahead|taking\s+place|on)\b|"
    r"\b(?:is|are|was|were|['’]s|['’]re)(?:n['’]t|\s+not)\s+(?:happening|going\s+ahead)\b|"
    r"取消|作废|告吹|泡汤|叫停|撤销|不(?:办|开|搞|举行|去)了|(?:约|会|活动|比赛|计划|事)黄了",
    re.IGNORECASE,
)
_NOT_CALLED_OFF = re.compile(
    r"\b(?:not|never|without|n['’]t)\s+(?:(?:be|been|being|to|going\s+to)\s+)*(?:cancel|call)|"
    r"(?:没有?|不会|不能|未|别)被?(?:取消|叫停|撤销)|取消文|noise[- ]cancel",
    re.IGNORECASE,
)


def says_cancelled(text: str) -> bool:
    """Tell whether a text says that something is called off, and not that it is not."""
    return bool(_CALLED_OFF.search(_NOT_CALLED_OFF.sub(" ", text)))
