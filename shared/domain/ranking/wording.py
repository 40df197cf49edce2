"""What a message's own wording tells: whether it names a time, asks, and how much it says."""

from __future__ import annotations

import re
from typing import Final

_FULL_LENGTH: Final = 300
"""UTF-8 bytes from which a message counts as long: some fifty English words, a hundred Han
characters."""

_LONGEST_READ: Final = 4_000
"""Code points of a message that are read; what is longer is no chat."""

_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|recently|just|since"
    r"|this\s+(?:week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|fall"
    r"|autumn|past)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)\b"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|weeks?|weekends?|months?|years?|(?:19|20)\d\d|\d+(?:st|nd|rd|th)"
    r"|birthdays?|anniversar(?:y|ies))\b"
    r"|昨[天晚日]|今[天晚早日年]|明[天早晚日年]|前[天年]|后天|去年|上[个]?[周月]|下[个]?[周月]"
    r"|这[个]?[周月]|周[一二三四五六日末]|星期|礼拜|[\d一二三四五六七八九十]+[年月日号]"
    r"|[天周月年]前|最近|刚[刚才]|生日|纪念日",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?。！？]+")


def tells_time(content: str) -> bool:
    """Tell whether a message names a time: a day, a date, a span, a birthday."""
    return _TIME.search(content[:_LONGEST_READ]) is not None


def share_of_questions(content: str) -> float:
    """Return which share of a message's sentences asks, from 0 to 1.

    A message that only asks rarely holds an answer.
    """
    if not asks(content):
        return 0.0
    ends = _ENDS.findall(content[:_LONGEST_READ])
    asking = sum("?" in end or "？" in end for end in ends)
    return asking / len(ends) if ends else 0.0


def asks(content: str) -> bool:
    """Tell whether a message holds a question mark."""
    return "?" in content or "？" in content


def fullness(content: str) -> float:
    """Return how much a message says, from 0 to 1: long ones carry most facts."""
    if len(content) >= _FULL_LENGTH:
        return 1.0  # a code point is a byte at least
    size = len(content) if content.isascii() else len(content.encode())
    return min(1.0, size / _FULL_LENGTH)
