"""Tell an English sentence about its speaker: "I love tea" becomes "Jon loves tea".

Only persons and their verbs change; every other word stays as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from workers.models.rules.vocabulary import words

_OPENERS = (
    r"hey|hi|hello|wow|whoa|woah|yeah|yea|yes|yep|yup|yess|oh|ooh|well|ok|okay|thanks|thank you"
    r"|sure|sure thing|haha|hahaha|lol|btw|by the way|hmm|aww|aw|cool|nice|great|awesome|exactly"
    r"|totally|definitely|absolutely|for sure|of course|no|nope|no worries|no problem|true|right"
    r"|good morning|good evening|good afternoon|good night|good idea|good to know|sorry|man|damn"
    r"|oh man|perfect|lovely|i know, right|same here|agreed|got it|fyi|for the record|anyway"
    r"|for the report|honestly|actually|also|plus|note|remember|correction"
    r"|i was wrong"
    r"|i was mistaken|my mistake|scratch that|i misspoke|wait|oops"
    r"|that(?:'s| is| was) (?:wrong|incorrect|not right)"
)
_OPENING = re.compile(
    rf"^(?:(?:{_OPENERS})(?:\s+[A-Z][\w'-]+)?\s*(?:[,!.:;…-]|–|—)+\s*|(?:and"
    rf"|but|so|plus|also)\s+)+",
    re.IGNORECASE,
)
_VOCATIVE = re.compile(r"^[A-Z][a-z]+,\s+(?=[A-Za-z])")
_ADVERBS = (
    "just|really|also|always|never|still|usually|often|recently|finally|even|only|already"
    "|actually|definitely|currently|sometimes|probably|mostly|now|totally|absolutely|sure|once"
    "|truly|generally|normally|especially|simply|mainly|soon|ever|long|first|then|both|all"
    "|no longer"
)
_PAST = words(
    """
    was were did had went got saw met took came made gave found told said bought brought built
    caught chose drove ate fell felt flew forgot heard held kept knew learnt left lost paid
    ran read rode sang sat sent slept sold spent spoke stood swam taught thought threw woke
    won wore wrote began broke drew grew hid hurt led meant quit shot struck became put cut
    let set hit cost will would can could should might may must shall can't cannot couldn't
    won't wouldn't shouldn't didn't hadn't wasn't weren't mustn't used bet dealt fed fought
    froze gotta gonna wanna stuck understood shook sought burnt dreamt lit bent shut split
    spread
    """
)
_PRESENT_IN_ED = words("need feed speed bleed heed breed proceed succeed exceed embed")
_TO_THIRD = {
    "am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "go": "goes",
    "gotta": "has to", "gonna": "is going to", "wanna": "wants to", "dont": "doesn't",
}  # fmt: skip
_I_VERB = re.compile(rf"\b[Ii]\s+((?:(?:{_ADVERBS})\s+)*)([A-Za-z]+(?:'t)?)\b")
_SHORT = {"'m": "is", "'ve": "has", "'ll": "will", "'d": "would"}
_WE_SHORT = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_LETS = re.compile(r"^(?:please\s+)?let(?:'s| us)\s+(?=[a-z])", re.IGNORECASE)
_VOWEL_Y = re.compile(r"[aeiou]y$")


@dataclass(frozen=True, slots=True)
class Persons:
    """Who speaks to whom; without a name it is the user speaking to the assistant."""

    speaker: str | None = None
    partner: str | None = None


def told(text: str, persons: Persons) -> str:
    """Return the sentence in the third person, without what only opens it.

    `text` is one sentence as it was said. Nothing is added but the speaker's name (or "the
    user") and "and others" where "we" was said.
    """
    plain = text.replace("’", "'").strip()
    plain = opened(plain)
    me = persons.speaker or "the user"
    plain = _LETS.sub(f"{me} wants to ", plain)
    for pattern, put in _RULES:
        plain = pattern.sub(put(me), plain)
    plain = _we(plain, me)
    plain = _you(plain, persons.partner or "the assistant")
    return plain[:1].upper() + plain[1:]


def opened(text: str) -> str:
    """Return the sentence without greetings, interjections and vocatives in front of it."""
    rest = _OPENING.sub("", text)
    rest = _VOCATIVE.sub("", rest) if rest != text or _VOCATIVE.match(text) else rest
    return rest if any(char.isalnum() for char in rest) else text


def third_person(verb: str) -> str:
    """Return the third person singular of a verb; past forms and modals stay as they are."""
    low = verb.lower()
    if low in _TO_THIRD:
        return _TO_THIRD[low]
    if low in _PAST or (low.endswith("ed") and low not in _PRESENT_IN_ED):
        return low
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{low}es"
    if low.endswith("y") and not _VOWEL_Y.search(low):
        return f"{low[:-1]}ies"
    return f"{low}s"


def _i_verb(me: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{me} {match[1]}{third_person(match[2])}"


def _i_short(me: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{me} {_SHORT[match[1].lower()]}"


def _literal(word: str) -> Callable[[str], Callable[[re.Match[str]], str]]:
    return lambda me: lambda _match: word.replace("$", me)


_RULES: tuple[tuple[re.Pattern[str], Callable[[str], Callable[[re.Match[str]], str]]], ...] = (
    (re.compile(r"\bI('m|'ve|'ll|'d)\b", re.IGNORECASE), _i_short),
    (re.compile(r"\b[Ii]m\b"), _literal("$ is")),
    (_I_VERB, _i_verb),
    (re.compile(r"\b[Ii]\b(?![.'])"), _literal("$")),
    (re.compile(r"\bmy\b", re.IGNORECASE), _literal("$'s")),
    (re.compile(r"\bmine\b", re.IGNORECASE), _literal("$'s")),
    (re.compile(r"\bmyself\b", re.IGNORECASE), _literal("themselves")),
    (re.compile(r"\bme\b", re.IGNORECASE), _literal("$")),
)


def _we(text: str, me: str) -> str:
    group = iter((f"{me} and others",))

    def short(match: re.Match[str]) -> str:
        return f"{next(group, 'they')} {_WE_SHORT[match[1].lower()]}"

    text = re.sub(r"\bwe('re|'ve|'ll|'d)\b", short, text, flags=re.IGNORECASE)
    text = re.sub(r"\bwe\b", lambda _match: next(group, "they"), text, flags=re.IGNORECASE)
    owner = f"{me} and others'" if next(group, None) else "their"
    text = re.sub(r"\bour\b", owner, text, count=1, flags=re.IGNORECASE)
    for word, put in (("our", "their"), ("ours", "theirs"), ("ourselves", "themselves")):
        text = re.sub(rf"\b{word}\b", put, text, flags=re.IGNORECASE)
    return re.sub(r"\b(?:us|Us)\b", "them", text)


def _you(text: str, you: str) -> str:
    short = {"'re": "is", "'ve": "has", "'ll": "will", "'d": "would"}
    text = re.sub(
        r"\byou('re|'ve|'ll|'d)\b",
        lambda match: f"{you} {short[match[1].lower()]}",
        text,
        flags=re.IGNORECASE,
    )
    for verb, put in (("are", "is"), ("were", "was"), ("have", "has")):
        text = re.sub(rf"\byou {verb}\b", f"{you} {put}", text, flags=re.IGNORECASE)
    text = re.sub(r"\byours?\b", f"{you}'s", text, flags=re.IGNORECASE)
    return re.sub(r"(?<!thank )\byou\b(?! know\b)", you, text, flags=re.IGNORECASE)
