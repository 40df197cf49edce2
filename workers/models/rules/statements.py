"""Read a block's sentences: which say something worth keeping, of what kind, and how strongly."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from shared.domain.turns import Message
from workers.models.rules import grammar_en, patterns_en, patterns_zh, voice_en, voice_zh
from workers.models.rules.kinds import Rule, Statement
from workers.models.rules.sentences import Sentence, image_captions, sentences_of
from workers.models.rules.small_talk import (
    is_applause,
    is_asking,
    is_hypothetical,
    is_request,
    is_small_talk,
)
from workers.models.rules.speakers import Cast
from workers.models.rules.vocabulary import words

_QUESTION_TAIL: Final = re.compile(
    r"(?:,|\s[-–—]|\.\.\.|…)\s*(?:(?:and|so|but|by the way|btw)\s+)?(?:what"
    r"|who|where|when|why|how|which|can|could|would|should"
    r"|do|does|did|is|are|have|has|will|any|got|right|you know|ya know|isn't"
    r"|don't|aren't|huh|wanna|want)\b[^,]*$",
    re.IGNORECASE,
)
_OPINION: Final = re.compile(r"^i (?:think|believe|feel|wish)\b", re.IGNORECASE)
_MANY_WORDS: Final = 6
_SOME_WORDS: Final = 4
_FEW_WORDS: Final = 3
_WORD: Final = re.compile(r"[A-Za-z][\w'-]*|\d[\w.,:/-]*")
_LIGHT: Final = words(
    """
    a an the and or but so if of at by for with about to from in on up out it its it's that
    that's this these those i i'm i've me my we our us you your he she they them is are was
    were be been am have has had do does did not no yes just really very too also all some any
    more most much many lot lots can could will would should there here what how when as like
    get got go good great nice awesome amazing cool super fun thing things stuff way one make
    makes feel feels think know keep say said see love it'll they're i'll don't can't always
    never again
    """
)
_TELLING: Final = re.compile(
    r"\d|\"|\b(?:yesterday|today|tonight|ago|last|next|since|week|month|year|morning|weekend"
    r"|summer|winter|spring|autumn|first|second|new|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
STATED: Final = Rule("statement", re.compile(r""), strength=1)
EXPERIENCED: Final = Rule("experience", re.compile(r""), strength=2, status="occurred")
DOING: Final = Rule("doing", re.compile(r""), strength=2, status="ongoing")
STATE: Final = Rule("state", re.compile(r""), strength=2, status="ongoing")
LIVING: Final = Rule("living", re.compile(r""), strength=2)
IMAGE: Final = Rule("image", re.compile(r""), strength=1)


def statements_of(message: Message, cast: Cast) -> list[Statement]:
    """Return what a message states, in order; empty where its words are no evidence."""
    if not cast.may_tell(message):
        return []
    found = [
        statement
        for sentence in sentences_of(message)
        if (statement := _statement(sentence, cast)) is not None
    ]
    return _with_images(found, message, cast)


def content_words(text: str) -> list[str]:
    """Return the words of an English text that carry meaning, lower-cased."""
    return [
        word for word in map(str.lower, _WORD.findall(text.replace("’", "'"))) if word not in _LIGHT
    ]


def _statement(sentence: Sentence, cast: Cast) -> Statement | None:
    if is_small_talk(sentence) or is_hypothetical(sentence.text):
        return None
    return _chinese(sentence, cast) if sentence.is_chinese else _english(sentence, cast)


def _english(sentence: Sentence, cast: Cast) -> Statement | None:
    quote = _assertion(sentence)
    if quote is None:
        return None
    plain = quote.replace("’", "'")
    text = voice_en.opened(plain)
    if is_asking(text) or _WORD.search(text) is None:
        return None
    is_correction = patterns_en.CORRECTION.search(plain) is not None
    said = plain if is_correction else text
    rule = next((one for one in patterns_en.RULES if one.matches(said)), None)
    is_addressed = is_applause(text)
    if is_request(sentence) and (rule is None or rule.strength < 4):
        return None
    is_first = grammar_en.FIRST_PERSON.search(text) is not None
    # To a machine people speak of themselves; between people "I will" is often only kindness.
    is_opinion = _OPINION.match(text) is not None
    is_addressed = is_addressed and (cast.is_between_people or not is_opinion)
    is_kindness = is_addressed and (cast.is_between_people or not is_first)
    if rule is None or (is_kindness and rule.strength < 4):
        rule = _by_grammar(text, cast, is_addressed=is_addressed) or (
            rule if rule is not None and _says_much(text) and not _is_of_the_other(text) else None
        )
    if rule is None:
        return None
    return _made(
        sentence,
        quote,
        cast,
        rule=rule,
        told=voice_en.told(quote, cast.persons(sentence.message)),
        is_first=is_first,
        bonus=1 if rule.strength == 2 and is_first and _TELLING.search(text) else 0,
    )


def _by_grammar(text: str, cast: Cast, *, is_addressed: bool) -> Rule | None:
    """Name the kind of a sentence by its verb and person, where its words name none."""
    words = len(content_words(text))
    is_telling = _TELLING.search(text) is not None
    if is_addressed and not (is_telling and words >= _SOME_WORDS):
        return STATED if words >= _MANY_WORDS and not _is_of_the_other(text) else None
    if _is_of_the_other(text):
        return None
    if words >= _FEW_WORDS or (words >= 2 and is_telling):
        if grammar_en.STATE.search(text):
            return STATE
        if grammar_en.ONGOING.search(text):
            return DOING
        if grammar_en.PAST_EXPERIENCE.search(text):
            return EXPERIENCED
        if grammar_en.HAVING.search(text):
            return LIVING
    is_first = grammar_en.FIRST_PERSON.search(text) is not None
    is_plain = words > 1 or (words == 1 and grammar_en.HAVING.search(text) is not None)
    if is_first and is_plain and not cast.is_between_people:
        return LIVING
    if cast.is_between_people:
        return STATED if is_first or words >= _MANY_WORDS else None
    return STATED if words >= _FEW_WORDS or is_telling else None


def _is_of_the_other(text: str) -> bool:
    """Tell whether a sentence is about the one spoken to and nobody else."""
    return bool(re.search(r"\b(?:you|your|you're|you've|yours)\b", text, re.IGNORECASE)) and not (
        grammar_en.FIRST_PERSON.search(text)
    )


def _says_much(text: str) -> bool:
    return len(content_words(text)) >= _FEW_WORDS


def _assertion(sentence: Sentence) -> str | None:
    """Return what a sentence asserts, verbatim: of a question only the clause before it."""
    if not sentence.is_question:
        return sentence.text
    tail = _QUESTION_TAIL.search(sentence.text)
    head = sentence.text[: tail.start()].rstrip(" ,–—-") if tail else ""
    if len(content_words(head)) < 2 or is_asking(voice_en.opened(head)):
        return None
    return head


def _chinese(sentence: Sentence, cast: Cast) -> Statement | None:
    text = voice_zh.opened(sentence.text)
    if sentence.is_question:
        return None
    rule = next((one for one in patterns_zh.RULES if one.matches(text)), None)
    if patterns_zh.REQUEST.match(text) and (rule is None or rule.strength < 4):
        return None
    if rule is None:
        if not patterns_zh.EXPERIENCE.search(text):
            return None
        is_dated = re.search(r"昨|今|前天|上周|上个?月|去年|刚|了|过", text)
        rule = EXPERIENCED if is_dated else STATED
    return _made(
        sentence,
        sentence.text,
        cast,
        rule=rule,
        told=voice_zh.told(sentence.text, cast.persons(sentence.message)),
        is_first=patterns_zh.FIRST_PERSON.search(text) is not None,
    )


def _made(
    sentence: Sentence,
    quote: str,
    cast: Cast,
    *,
    rule: Rule,
    told: str,
    is_first: bool,
    bonus: int = 0,
) -> Statement:
    return Statement(
        sentence=sentence,
        quote=quote,
        told=told,
        rule=rule,
        strength=rule.strength + bonus,
        speaker=cast.persons(sentence.message).speaker,
        category=rule.category,
        criticality=rule.criticality,
        is_first_person=is_first,
    )


def _with_images(found: list[Statement], message: Message, cast: Cast) -> list[Statement]:
    """Tell an image with the words it came with, or by itself where there are none."""
    captions = image_captions(message)
    if not captions:
        return found
    shown = "; ".join(captions)
    if found:
        return [*found[:-1], replace(found[-1], image=shown)]
    start = message.content.find(captions[0])
    sentence = Sentence(captions[0], start, start + len(captions[0]), message)
    who = cast.persons(message).speaker or "the user"
    told = f"{who[:1].upper()}{who[1:]} shared an image: {shown}"
    return [_made(sentence, captions[0], cast, rule=IMAGE, told=told, is_first=True)]
