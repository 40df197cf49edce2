"""Words that deny or doubt what happened at a time: then nothing is known to have occurred.

Only the clause that holds the time expression counts, and the doubt right behind it.
"""

from __future__ import annotations

import re

_CLAUSE_END = re.compile(r"[,.;!?\n，。；！？]|\bbut\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:never|did\s+not|didn['’]t)\s+(?!(?:only|just|even|know|realise|realize)\b)\w"
    r"|从(?:来)?没有?|从未|并未|并没有?",
    re.IGNORECASE,
)
_TURNS = re.compile(r"\b(?:until|till|before|since|again|after)\b", re.IGNORECASE)
_DOUBTS = re.compile(
    r"\b(?:maybe|perhaps|possibly)\b|\b(?:might|may|could)\s+have\s+\w|也许|可能|好像|或许",
    re.IGNORECASE,
)
_DOUBTED_BEHIND = re.compile(
    r"[\s,，;；–—-]*(?:but\s+)?(?:(?:i['’]m|i\s+am)\s+)?(?:not\s+(?:really\s+|quite\s+)?sure|"
    r"i\s+(?:don['’]t|can['’]t)\s+(?:remember|recall)|不确定|记不清)",
    re.IGNORECASE,
)
_REACH = 200


def is_doubted(text: str, span: tuple[int, int]) -> bool:
    """Tell whether what text[span] dates is denied or doubted by its own clause."""
    start, end = span
    before = text[max(0, start - _REACH) : start]
    return _speaks_against(_CLAUSE_END.split(before)[-1], text[end : end + _REACH])


def _speaks_against(before: str, behind: str) -> bool:
    if _DOUBTED_BEHIND.match(behind) or _DOUBTS.search(before):
        return True
    return _DENIES.search(before) is not None and _TURNS.search(before) is None
