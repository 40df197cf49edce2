"""What an event may rest on: legal sources, verbatim quotes, words that come from them (D10, D11).

Every function takes the view that models see (redacted), because that is what is quoted from.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.events import Quote
from shared.domain.turns import Message, Origin, Role

_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]+")
_MIN_GROUNDING_SIGNS = 2
_SHARED_WORDS = 2
_FEW_WORDS = 3
_MIN_PLURAL = 3
_GENERIC_WORDS = (
    "a about after again all also always an and any are as at be because been before being but "
    "by can could did do does doing example for from get gets got had has have having he her "
    "him his how i if in into is it its just keeps like likes made make makes may me more most "
    "my new no not now of on once only or other our out over prefer preference preferences "
    "prefers said say says she should so some such than that the their them then there they "
    "this those to too under up use used user users uses using very want wanted wants was we "
    "were what when where which while who will with would you your assistant 用户 助手 喜欢 "
    "偏好 使用 我们 他们 这个 那个 一个"
)
_GENERIC: Final = frozenset(_GENERIC_WORDS.split())


@dataclass(frozen=True, slots=True)
class Sources:
    """The ids an event cited, parted into those it may rest on and those it may not."""

    legal: tuple[str, ...]
    foreign: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckedQuotes:
    """Quotes found verbatim in a cited message, and the texts that were not."""

    verbatim: tuple[Quote, ...]
    dropped: tuple[str, ...]


def is_evidence(message: Message) -> bool:
    """Tell whether a message can be a source: system text and injected context cannot."""
    return message.role is not Role.SYSTEM and message.origin is not Origin.INJECTED


def part_sources(cited: Iterable[str], messages: Sequence[Message]) -> Sources:
    """Part cited ids by whether they name evidence among the target's messages, in order."""
    allowed = {message.id for message in messages if is_evidence(message)}
    unique = tuple(dict.fromkeys(cited))
    return Sources(
        legal=tuple(one for one in unique if one in allowed),
        foreign=tuple(one for one in unique if one not in allowed),
    )


def check_quotes(
    quotes: Iterable[tuple[str | None, str]],
    sources: Sequence[Message],
    *,
    stored: Sequence[Message] = (),
) -> CheckedQuotes:
    """Keep each quote that stands verbatim in a cited message, after NFKC and space folding.

    A quote comes with the id of the message it names, or None; it is credited to the named
    message where that holds it, else to the first source that does. Letters keep their case.
    `stored` are messages as readers see them, where `sources` leave something out: there a
    quote must stand too, so that it does not run across what was left out.
    """
    whole = {message.id: folded(text_of(message)) for message in stored}
    texts = {source.id: folded(text_of(source)) for source in sources}
    verbatim: dict[Quote, None] = {}
    dropped: list[str] = []
    for named, quote in quotes:
        wanted = folded(quote)
        order = [named, *texts] if named in texts else list(texts)
        holder = next(
            (
                one
                for one in order
                if one and wanted in texts[one] and wanted in whole.get(one, wanted)
            ),
            None,
        )
        if holder is None or not any(char.isalnum() for char in wanted):
            dropped.append(quote)
        else:
            verbatim[Quote(message_id=holder, text=quote.strip())] = None
    return CheckedQuotes(verbatim=tuple(verbatim), dropped=tuple(dropped))


def is_grounded(
    statement: str, sources: Sequence[Message], *, quotes: Sequence[Quote] = ()
) -> bool:
    """Tell whether a statement has anything from its sources in it.

    Enough is a surviving verbatim quote, a number or a name in common, or, in one language,
    two content words (one, where the statement has no more than three). Nothing in common
    means that the statement was made up, or leaked from an example.
    """
    if any(_signs(quote.text) >= _MIN_GROUNDING_SIGNS for quote in quotes):
        return True
    source = folded(" ".join(text_of(one) for one in sources))
    said = folded(statement)
    if set(_NUMBER.findall(said)) & set(_NUMBER.findall(source)):
        return True
    source_words = _content_words(source)
    if {_stem(name) for name in _names(said)} & source_words:
        return True
    words = _content_words(said)
    needed = 1 if len(words) <= _FEW_WORDS else _SHARED_WORDS
    return len(words & source_words) >= needed


def text_of(message: Message) -> str:
    """Return what a message says, its tool trace included."""
    traces = (json.dumps(call, ensure_ascii=False, default=str) for call in message.tool_calls)
    return "\n".join((message.content, *traces))


def folded(text: str) -> str:
    """Return the text under NFKC with whitespace runs folded to one space; case is kept."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text)).strip()


def by_id(messages: Iterable[Message]) -> Mapping[str, Message]:
    """Return the messages under their ids."""
    return {message.id: message for message in messages}


def _signs(text: str) -> int:
    return sum(char.isalnum() for char in text)


def _names(text: str) -> set[str]:
    words = (word for word in _WORD.findall(text) if word[0].isupper())
    return {word.lower() for word in words} - _GENERIC


def _content_words(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(_HAN.sub(" ", text))}
    pairs = {run[i : i + 2] for run in _HAN.findall(text) for i in range(len(run) - 1)}
    return {_stem(word) for word in words - _GENERIC} | (pairs - _GENERIC)


def _stem(word: str) -> str:
    """Drop a possessive or plural ending, so that "bees" meets "bee" and "Ann's" meets "Ann"."""
    word = re.sub(r"['’]s?$", "", word)
    plural = len(word) > _MIN_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word
