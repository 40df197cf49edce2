"""Tell a Chinese sentence about its speaker: 我吃素 becomes 用户吃素."""

from __future__ import annotations

import re

from workers.models.rules.voice_en import Persons

_OPENING = re.compile(
    r"^(?:(?:好的?|嗯+|是的?|对了?|对的|没错|谢谢|你好|您好|早上好|晚上好|哈哈|哦|啊|那个|另外|还有"
    r"|顺便说一下|其实|记住|请记住|记一下|帮我记一下|请注意|注意)[，,。！!：:\s]+)+"
)
_CORRECTING = re.compile(
    r"^(?:抱歉|对不起|不好意思)?[，,]?\s*(?:我)?(?:刚才|刚刚|之前)?"
    r"(?:说错了?|搞错了?|弄错了?|记错了?|更正(?:一下)?"
    r"|纠正(?:一下)?|不对(?=[，,。：:！!\s]|$))[，,。：:！!\s]*(?:应该是|其实是)?"
)
_GROUP = re.compile(r"(?:我们|咱们)")
_SELF = re.compile(r"(?<![自忘])我(?!们)|(?<!不)本人")
_YOU = re.compile(r"(?:你|您)(?!们|好)")


def told(text: str, persons: Persons) -> str:
    """Return the sentence in the third person, without its opening words and end mark."""
    plain = without_correction(opened(text.strip()))
    me = persons.speaker or "用户"
    plain = _GROUP.sub(f"{me}一方", plain)
    plain = _SELF.sub(me, plain)
    return _YOU.sub(persons.partner or "助手", plain)


def opened(text: str) -> str:
    """Return the sentence without greetings and interjections in front of it."""
    rest = _OPENING.sub("", text)
    return rest if any(char.isalnum() for char in rest) else text


def without_correction(text: str) -> str:
    """Return what a correction says, without the words that announce it."""
    rest = _CORRECTING.sub("", text, count=1)
    return rest if any(char.isalnum() for char in rest) else text


def is_correction(text: str) -> bool:
    """Tell whether the sentence announces a correction."""
    return bool(_CORRECTING.match(opened(text)))
