"""Plans that are set or moved: "was moved to Friday" looks ahead, "from Friday" nowhere.

The verb is past because the decision is; the day that it leads to lies ahead all the same.
"""

from __future__ import annotations

import re

from shared.domain.temporal.rules import Tense

_I = re.IGNORECASE
_NEAR = 72
"""Code points before an expression within which the verb of its plan is sought."""

_LEAD = re.compile(r"\b(?:to|onto|for|until|till|from)\s+(?:the\s+)?$", _I)
_GAP = r"[^.!?;,\n]{0,40}?"
_MOVE = (
    r"(?:mov(?:e|ed|ing)|push(?:ed|ing)?|postpon(?:e|ed|ing)|re-?schedul(?:e|ed|ing)|delay(?:ed|ing)?|"
    r"defer(?:red|ring)?|bump(?:ed|ing)?|shift(?:ed|ing)?|switch(?:ed|ing)?|chang(?:ed|ing)|"
    r"extend(?:ed|ing)?|adjourn(?:ed)?|(?:brought|bring(?:ing)?)\s+forward|put\s+(?:\w+\s+){0,4}?(?:off|back))"
)
_FIX = (
    r"(?:(?:re-?)?schedul(?:e|ed|ing)|set|slated|book(?:ed|ing)?|reserv(?:ed|ing)|"
    r"arrang(?:ed|ing)|plann(?:ed|ing)|pencil?led|fixed|lined\s+up|sign(?:ed)?\s+up|due|"
    r"(?<!\bhad\s)(?:tickets?|reservations?|appointments?|invit(?:ed|ations?)))"
)
_ONTO = re.compile(
    rf"\b(?:{_MOVE}\b{_GAP}\b(?:to|onto|until|till)|{_FIX}\b{_GAP}\bfor)\s+(?:the\s+)?$", _I
)
_OFF = re.compile(rf"\b{_MOVE}\b{_GAP}\bfrom\s+(?:the\s+)?$", _I)
_UNDONE = re.compile(
    r"[^.!?;\n]{0,16}\bbut\b(?:\s+\w+){0,3}?\s+(?:was|were|got|had|did(?:n['’]t)?|fell|never|"
    r"(?!need)[a-z]{2,}ed)\b",
    _I,
)

_MOVE_ZH = r"(?:改期|改约|改签|改|推迟|延期|延后|顺延|延|提前|挪|调整|调|换|移)"
_ONTO_ZH = re.compile(
    rf"(?:{_MOVE_ZH}了?(?:到|至|成|为)了?|(?<![固稳确])(?:约|定|订|排|安排|预定|预约|预订)(?:好|了|好了)?(?:[到在于]了?)?)$"
)
_OFF_ZH = re.compile(rf"[^，。！？；,.!?;\s]{{0,4}}?{_MOVE_ZH}了?(?:到|至|成|为)")


def english(text: str, start: int, end: int) -> Tense | None:
    """Return where a plan sends text[start:end], OPEN where it leaves it, None without a plan."""
    before = text[max(0, start - _NEAR) : start]
    if not _LEAD.search(before[-12:]):
        return None
    if _ONTO.search(before):
        return Tense.OPEN if _UNDONE.match(text, end) else Tense.FUTURE
    return Tense.OPEN if _OFF.search(before) else None


def chinese(text: str, start: int, end: int) -> Tense | None:
    """Return the same for Chinese: 改到周五 looks ahead, the 周四 of 周四改到周五 nowhere."""
    if _ONTO_ZH.search(text[max(0, start - 8) : start]):
        return Tense.FUTURE
    return Tense.OPEN if _OFF_ZH.match(text, end) else None


def leaves(text: str, start: int) -> bool:
    """Tell whether a plan moves away from the date at `start`, so that it opens no span."""
    return _OFF.search(text[max(0, start - _NEAR) : start]) is not None
