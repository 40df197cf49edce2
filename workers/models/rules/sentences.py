"""Cut messages into sentences of English and Chinese, each with its place in its message.

A sentence's text is verbatim, so that it can be quoted. Fenced code and tables are no prose
and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shared.domain.turns import Message

MAX_SENTENCE = 400
"""Code points; what is longer without a full stop is read in stretches."""

_LONGEST_ABBREVIATION = 8
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_IMAGE = re.compile(r"\[image:(?P<caption>[^\[\]]{0,500})\]", re.IGNORECASE)
_END = re.compile(
    r"(?P<asian>[。！？；]+[”」』）]*)"
    r"|(?P<latin>[.!?]+[\"”’)*]*)(?=\s|$|[\u3400-\u9fff])"
    r"|(?P<clause>;)(?=\s)"
    r"|(?P<line>\n+)"
)
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|e\.g|i\.e|approx|No|Inc|Ltd|Co|a\.m|p\.m"
    r"|[A-Z])$"
)
_HAN = re.compile(r"[\u3400-\u9fff]")
_BULLET = re.compile(r"^(?:[-*•>#]+|\d+[.)])\s+")
_QUESTION_ZH = re.compile(r"[？?]$|(?:吗|呢|么)[。！.!]?$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message: `message.content[start:end]`, trimmed of blanks around it."""

    text: str
    start: int
    end: int
    message: Message

    @property
    def is_question(self) -> bool:
        """Tell whether it asks; also Chinese questions without a mark."""
        return bool(_QUESTION_ZH.search(self.text.rstrip('"”’)*」』 ')))

    @property
    def is_chinese(self) -> bool:
        """Tell whether Han characters carry it."""
        return is_chinese(self.text)


def sentences_of(message: Message) -> list[Sentence]:
    """Return the sentences of a message in order, without code, image marks and blanks."""
    text = message.content
    for pattern in (_FENCE, _IMAGE):
        # Blanked, not cut: the places must stay those of the message.
        text = pattern.sub(lambda found: "\n" * len(found[0]), text)
    return [
        Sentence(message.content[start:end], start, end, message)
        for start, end in _spans(text)
        if any(char.isalnum() for char in message.content[start:end])
    ]


def image_captions(message: Message) -> tuple[str, ...]:
    """Return what the image marks of a message say the images show."""
    found = (match["caption"].strip() for match in _IMAGE.finditer(message.content))
    return tuple(caption for caption in found if caption)


def is_chinese(text: str) -> bool:
    """Tell whether at least a quarter of a text's letters are Han characters."""
    if text.isascii() or not (han := len(_HAN.findall(text))):
        return False
    return han * 4 >= sum(char.isalpha() for char in text)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        if match["latin"] == "." and _ABBREVIATED.search(
            text[max(start, match.start() - _LONGEST_ABBREVIATION) : match.start()]
        ):
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end > start and (text[end - 1].isspace() or text[end - 1] in ";；"):
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    bullet = _BULLET.match(text[start:end])
    if bullet:
        start += bullet.end()
    # The rules' patterns are made for sentences; a wall of text is read in stretches of that size.
    while end - start > MAX_SENTENCE:
        blank = text.rfind(" ", start + 1, start + MAX_SENTENCE)
        cut = blank if blank > 0 else start + MAX_SENTENCE
        yield start, cut
        start = cut + 1 if blank > 0 else cut
    if start < end:
        yield start, end
