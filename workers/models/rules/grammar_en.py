"""English sentences read by their grammar, where their words name no kind of statement."""

from __future__ import annotations

import re
from typing import Final


def _p(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


FIRST_PERSON: Final = _p(r"\b(?:i|we|i'm|we're|i've|we've|my|our)\b")
PAST_EXPERIENCE: Final = _p(
    r"\b(?:i|we|my \w+|our \w+|[A-Z][a-z]+)\s+(?:\w+ly\s+|just\s+|also\s+"
    r"|finally\s+|even\s+|actually\s+)*"
    r"(?:was|were|did|had|went|got|saw|met|took|came|made|gave|found|told"
    r"|bought|brought|built|caught|chose|drove"
    r"|ate|fell|felt|flew|heard|held|kept|knew|learn(?:t|ed)|left|lost|paid"
    r"|ran|read|rode|sang|sat|sent|slept|sold"
    r"|spent|spoke|stood|swam|taught|threw|won|wore|wrote|began|broke|drew"
    r"|grew|became|put|used|[a-z]{2,}ed)\b"
    r"|\b(?:i've|we've|i have|we have)\s+(?:\w+\s+)?(?:been|[a-z]+(?:ed|en"
    r"|ne|wn|nt|ht)|had|made|met|got)\b"
    r"|^(?:just|recently|finally|also)?\s*(?:got|went|lost|found|started"
    r"|took|bought|had|made|met|been|finished)\b"
)
ONGOING: Final = _p(
    r"\b(?:i'm|we're|i am|we are|i've been|we've been|been|my \w+ (?:is|are)"
    r"|[A-Z][a-z]+ is)\s+(?:\w+ly\s+|just\s+|also\s+"
    r"|still\s+|currently\s+|now\s+)*[a-z]+ing\b"
)
HAVING: Final = _p(
    r"\b(?:i|we)(?:'ve| have)? (?:also |still |now |only |even )?(?:have|got"
    r"|own|keep|play|speak|use|run|teach|study"
    r"|do|make|go|live|work|cook|paint|write|read|grow|try|usually|often"
    r"|named?|call)\b|\bmy \w+(?: \w+)?"
    r"(?:'s| is| are| has| have| was| were| does| do)\b|\bour \w+(?: \w+)? "
    r"(?:is|are|has|have|was|were)\b"
)
STATE: Final = re.compile(
    r"^(?:(?:[Tt]he|[Oo]ur|[Mm]y)\s+(?:[\w'-]+\s+){1,5}?|[A-Z][\w'-]*(?:\s[A-Z][\w'-]*)?\s+)"
    r"(?:is|are|has|have|works?|lives?|leads?|runs?|contains?|costs?|uses?"
    r"|stands?|belongs?|speaks?)"
    r"\b(?!\s+(?:been|had|just|\w+ing"
    r"|(?!called|named|located|based|closed|allowed|required|supposed|married)\w+ed)\b)"
)
