"""Names in a text, and the titles and tags that a stretch of conversation is found by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from shared.domain.stop_words import ENGLISH
from workers.models.rules.sentences import is_chinese
from workers.models.rules.vocabulary import words

TITLE_LENGTH: Final = 60
_CAPITALS: Final = re.compile(
    r"\b[A-Z][\w'’&-]*(?:\s+(?:of\s+(?:the\s+)?|de\s+|van\s+|von\s+)?"
    r"(?:[A-Z][\w'’&-]*|\d+(?:\.\d+)*\b))*"
)
_NOT_NAMES: Final = words(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december mon tue wed thu fri sat sun i ok user
    assistant the i'm i've i'd i'll today yesterday tomorrow redacted redacted_token ci api
    sql json html css http url id ai tv usa uk eu pm am diy
    """
)
_STARTERS: Final = words(
    """
    hey hi hello wow yeah yes yep yup no nope thanks thank sure sorry great good nice cool
    awesome amazing perfect lovely please note remember correction actually also finally
    lately recently unfortunately luckily hopefully maybe perhaps since when while after
    before if although because last next this these those there here every each some many most
    all both such another other one two three four five six seven eight nine ten first second
    once now then today yesterday tomorrow tonight still just only even well oh btw fyi let
    lets let's don't can't won't check make take keep remind convert show tell give find write
    use using installing being having doing getting seeing going looking working trying
    starting finishing definitely absolutely totally exactly agreed congrats congratulations
    what who where how why which can could would should do does did is are was were have has
    had will my your his her our their its it's that's i'm i'll i've we're you're they're he's
    she's got been gonna wanna plus speaking
    """
)
_GENERIC: Final = words(
    """
    thing things time times day days way people lot lots bit kind sort part person someone
    something anything nothing week weeks month months year years today yesterday tomorrow
    morning evening night minute minutes hour hours really great good nice awesome amazing
    cool love like want need know think feel make made take get got going said say told tell
    use used new old last next first best better more much many little big pretty sure thanks
    thank yes yeah hey wow hope glad happy look looks looking see seen come came went back
    well just also keep try trying tried start started help helped work works working done
    doing talk chat user assistant please always never ever awesome fun long away others tool
    reported called wants lately recently able real super totally definitely absolutely
    exactly experience image photo picture pic decided plan switched moved finished replaced
    because around another every together everything everyone sounds sound redacted
    redacted_token being having getting there where which while would could should let put
    """
)
_HAN_STOP: Final = re.compile(
    r"用户|我们|你们|他们|一方|助手|这个|那个|一个|什么|怎么|因为|所以|但是"
    r"|不过|已经|现在|今天|昨天|明天|上周|下周|刚刚|可以|没有"
    r"|决定|打算|计划|喜欢|说错|记下|好的|请|我|你|他|她|它|的|了|在|是|有"
    r"|和|与|跟|很|都|也|就|不|要|会(?!议)|把|从|到|对|为|以后"
)
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]{2,}")


def names_in(text: str, known: Iterable[str] = ()) -> list[str]:
    """Return the capitalised names of an English text, in order, each once.

    A capital at the start of a sentence counts only where the word is no ordinary opener; a
    single one only when `known` holds it or what follows reads as its verb.
    """
    familiar = set(known)
    found: dict[str, None] = {}
    for match in _CAPITALS.finditer(text):
        name = _cleaned(match[0], starts=_starts_sentence(text, match.start()))
        if not name:
            continue
        is_sole = " " not in name and name == re.sub(r"['’]s$", "", match[0].split()[0])
        opens = is_sole and _starts_sentence(text, match.start()) and name not in familiar
        if not opens or _reads_as_name(text, match.end()):
            found.setdefault(name, None)
    return list(found)


def title_of(told: str, limit: int = TITLE_LENGTH) -> str:
    """Return the statement as a title: its first clause, whole words, at most `limit` long."""
    text = re.sub(r"\s+", " ", told).strip().rstrip(".!。！ ")
    if len(text) <= limit:
        return text
    for mark in (
        r"[;；。!！]",
        r"(?:,|，|\s[-–—])\s?",
        r"\s(?:because|so that|since|which|and it)\s",
    ):
        cut = [m.start() for m in re.finditer(mark, text) if limit // 3 <= m.start() <= limit]
        if cut:
            return text[: cut[-1]].strip()
    if is_chinese(text):
        return text[: limit - 1] + "…"
    short = text[: limit - 1]
    return (short[: short.rfind(" ")] if " " in short else short).rstrip(" ,;:-") + "…"


def topics_of(texts: Sequence[str], *, limit: int, skip: Iterable[str] = ()) -> list[str]:
    """Return the names and words that weigh most in the texts, the weightiest first."""
    weights: Counter[str] = Counter()
    shown: dict[str, str] = {}
    left_out = {word.lower() for word in skip}
    for text in texts:
        names = names_in(text)
        for name in names:
            weights[name.lower()] += 3
            shown.setdefault(name.lower(), name)
        for word in _WORD.findall(text.replace("’", "'")):
            low = word.lower().removesuffix("'s")
            if (
                low not in ENGLISH
                and low not in _GENERIC
                and low not in _NOT_NAMES
                and "'" not in low
            ):
                weights[low] += 1
                shown.setdefault(low, low)
        for term in _han_terms(text):
            weights[term] += 2
            shown.setdefault(term, term)
    order = {term: place for place, term in enumerate(shown)}
    ranked = sorted(weights, key=lambda term: (-weights[term], order[term]))
    chosen: list[str] = []
    for term in ranked:
        if term in left_out or any(term in one.lower().split() for one in chosen):
            continue
        chosen.append(shown[term])
        if len(chosen) == limit:
            break
    return chosen


def _han_terms(text: str) -> list[str]:
    """Return the runs of Han characters between words of grammar, two to six long."""
    runs = re.findall(r"[\u3400-\u9fff]+", _HAN_STOP.sub(" ", text))
    return [run for run in runs if 2 <= len(run) <= 6]


def _cleaned(name: str, *, starts: bool) -> str:
    words = name.split()
    while words and starts and words[0].lower().replace("’", "'") in _STARTERS | ENGLISH:
        words.pop(0)
    while words and words[0].lower().replace("’", "'") in _NOT_NAMES | _STARTERS | {"a", "an"}:
        words.pop(0)
    while words and (words[-1].lower() in _NOT_NAMES or words[-1] in ("of", "the")):
        words.pop()
    text = re.sub(r"['’]s$|['’]$", "", " ".join(words))
    return text if any(char.isalpha() for char in text) and len(text) > 1 else ""


def _starts_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \"“'(*-")
    return not before or before[-1] in ".!?:;\n。！？："


def _reads_as_name(text: str, end: int) -> bool:
    word = text[:end].split()[-1].lower().replace("’", "'")
    if word in _STARTERS or word in ENGLISH or word in _GENERIC or word.endswith("ing"):
        return False
    after = re.match(r"(?:['’]s)?\s+(?:(?:and|also|just|never|always)\s+)?([a-z]+)", text[end:])
    if text[max(0, end - 2) : end] in ("'s", "’s"):
        return True
    return after is not None and (
        after[1]
        in {
            "is",
            "was",
            "has",
            "will",
            "can",
            "and",
            "leads",
            "had",
            "wants",
            "who",
            "said",
            "told",
        }
        or after[1].endswith(("s", "ed"))
        or after[1]
        in {"found", "took", "went", "came", "got", "made", "left", "gave", "met", "built", "wrote"}
    )
