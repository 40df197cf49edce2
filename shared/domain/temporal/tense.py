"""Which way a clause looks: past or future cues nearest to a time expression win."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from shared.domain.temporal import rescheduling
from shared.domain.temporal.rules import Tense

_Spans = tuple[list[int], list[int]]
"""Where the cues of a text begin, and where they end; both ascending."""

_CLAUSE_END = re.compile(r"[.!?;\n。！？；]+(?=\s|$|[^\x00-\x7f])|\n|；")

_PAST_EN = re.compile(
    r"\b(?:was|were|did|had|went|(?<!['’]ve\s)(?<!have\s)(?<!has\s)got|saw|met|took|came|made|gave|found|"
    r"told|said|bought|brought|built|caught|chose|drove|ate|fell|felt|flew|forgot|heard|held|"
    r"kept|knew|learnt|left|lost|paid|ran|read|rode|sang|sat|sent|slept|sold|spent|spoke|stood|"
    r"swam|taught|thought|threw|woke|won|wore|wrote|began|broke|drew|grew|hid|hurt|led|meant|"
    r"quit|shot|struck|became|could(?!\s+(?:you|we)\b)|been|(?:['’]ve|have|has)(?=\s+(?:\w+ly\s+|just\s+|never\s+|already\s+)?"
    r"(?!need|red\b|bed\b)(?:\w+(?:ed|en|wn)|done|gone|put|run|cut)\b)|(?:was|were|did|have|has|had|could)n['’]t|happened|ago|last|previous|past|"
    r"(?!need|indeed|speed|feed|seed|weed|breed|exceed|proceed|succeed|scheduled|supposed|excited|"
    r"planned|bed|red|wed|shed|embed|hundred|naked)[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_FUTURE_EN = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|plan to|plans to|planning|planned for|want to|wanna|"
    r"hope to|hoping|hopefully|can't wait|cannot wait|looking forward|let's|lets|see you|"
    r"should|need to|have to|has to|got to|gotta|must|due|deadline|scheduled|supposed to|"
    r"i'm (?:seeing|meeting|flying|leaving|having|taking|visiting|starting|hosting|going)|"
    r"(?:am|is|are|'re|'m) (?:\w+ )?(?:flying|leaving|arriving|coming|moving|starting|visiting|"
    r"meeting|having|hosting|doing|taking|seeing|opening|launching|going)|remind|upcoming|"
    r"excited for|ready for|prepare for|preparing for|expected|expect|book(?:ed)? for|"
    r"(?:can|could|would|shall|will) (?:you|we)|(?:have|has|['’]ve|['’]s) got an?|"
    r"next|works for me|sounds? good|how about|what about|coming up|"
    r"by then|tomorrow|about to|intend)\b|'ll\b|'d like to\b",
    re.IGNORECASE,
)
_PAST_ZH = re.compile(
    r"(?<![为除算])了(?!解|不)|(?<![不通经超渡])过(?![年节来去几两三四五六后])|曾|已经|刚(?![好性需强毅果直烈要想])|当时|那时|去世|发生"
)
_FUTURE_ZH = re.compile(
    r"要(?![求素点是不])|(?<![机社开议约聚晚宴协学体])会(?![议员场计儿])|将(?!军)|打算|准备|计划|想|预计|安排|截止|到期|"
    r"之前(?:完成|交)|得(?=去|交|做)|记得|提醒|希望|开会|打算|即将|下次|快到|有空|方便吗|(?:行|可以|好)吗|[吧见](?=[，。！,.!？?~～]|$)"
)


@dataclass(frozen=True, slots=True)
class Cues:
    """The patterns of a language that look back, those that look ahead, and its set plans."""

    past: re.Pattern[str]
    future: re.Pattern[str]
    planned: Callable[[str, int, int], Tense | None]


ENGLISH = Cues(_PAST_EN, _FUTURE_EN, rescheduling.english)
CHINESE = Cues(_PAST_ZH, _FUTURE_ZH, rescheduling.chinese)


def reader(text: str, cues: Cues) -> Callable[[int, int], Tense]:
    """Return a function that tells the tense of the clause around text[start:end].

    The cues are searched for once a text, at the first question.
    """
    found: list[tuple[_Spans, _Spans, list[int]]] = []

    def tense_at(start: int, end: int) -> Tense:
        planned = cues.planned(text, start, end)
        if planned is not None:
            return planned
        if not found:
            stops = [m.start() for m in _CLAUSE_END.finditer(text)]
            found.append((_spans(cues.past, text), _spans(cues.future, text), stops))
        past, future, stops = found[0]
        after = bisect_left(stops, end)
        left = stops[bisect_left(stops, start) - 1] if stops and stops[0] < start else 0
        right = stops[after] if after < len(stops) else len(text)
        where = (left, start, end, right)
        return _nearest(_distance(past, where), _distance(future, where))

    return tense_at


def _spans(cue: re.Pattern[str], text: str) -> _Spans:
    found = [m.span() for m in cue.finditer(text)]
    return [begin for begin, _ in found], [stop for _, stop in found]


def _nearest(back: int | None, ahead: int | None) -> Tense:
    if back is None and ahead is None:
        return Tense.OPEN
    if ahead is None or (back is not None and back < ahead):
        return Tense.PAST
    return Tense.FUTURE


def _distance(cues: _Spans, where: tuple[int, int, int, int]) -> int | None:
    """Return the characters between the expression and its nearest cue in the clause."""
    begins, stops = cues
    left, start, end, right = where
    before = bisect_right(stops, start) - 1
    after = bisect_left(begins, end)
    back = start - stops[before] if before >= 0 and begins[before] >= left else None
    ahead = begins[after] - end if after < len(begins) and begins[after] < right else None
    if back is None or ahead is None:
        return ahead if back is None else back
    return min(back, ahead)
