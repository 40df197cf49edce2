"""English words of time and their values, with the pattern fragments made of them."""

from __future__ import annotations

import re

from shared.domain.temporal.festivals import ENGLISH as FESTIVALS

WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5,
    "sunday": 6, "mon": 0, "tue": 1, "tues": 1, "wed": 2, "weds": 2, "thu": 3, "thur": 3,
    "thurs": 3, "fri": 4, "sat": 5, "sun": 6,
}  # fmt: skip
MONTHS = {
    "january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7,
    "august": 8, "september": 9, "october": 10, "november": 11, "december": 12, "jan": 1,
    "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9,
    "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
    "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "a couple": 2, "a couple of": 2, "couple": 2, "couple of": 2,
}  # fmt: skip
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20, "twenty-first": 21, "twenty-second": 22,
    "twenty-third": 23, "twenty-fourth": 24, "twenty-fifth": 25, "twenty-sixth": 26,
    "twenty-seventh": 27, "twenty-eighth": 28, "twenty-ninth": 29, "thirtieth": 30,
    "thirty-first": 31, "last": -1, "final": -1,
}  # fmt: skip
SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn",
           "winter": "winter"}  # fmt: skip
UNITS = {
    "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour", "day": "day",
    "night": "day", "evening": "day", "morning": "day", "week": "week", "wk": "week",
    "weekend": "weekend", "fortnight": "fortnight", "month": "month",
    "quarter": "quarter", "year": "year", "yr": "year", "decade": "decade",
    "summer": "summer", "winter": "winter", "spring": "spring", "fall": "autumn",
    "autumn": "autumn",
}  # fmt: skip
BACKWARD = frozenset({"last", "previous", "past", "this past", "this last"})
FORWARD = frozenset({"next", "coming", "upcoming", "this coming", "this upcoming", "this next"})


def one_of(words: object) -> str:
    """Return an alternation of words, longest first, blanks matching any whitespace."""
    if not isinstance(words, dict | frozenset | set | tuple | list):
        raise TypeError("one_of takes a collection of words")
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(w).replace(r"\ ", r"\s+").replace("'", "['’]") for w in ordered)


WEEKDAY = one_of([w for w in WEEKDAYS if len(w) > 5])
WEEKDAY_ANY = one_of(WEEKDAYS)
MONTH = rf"(?:{one_of(MONTHS)})"
SEASON = one_of(SEASONS)
ORDINAL = one_of(ORDINALS)
FESTIVAL = one_of(FESTIVALS)
TENS = "twenty|thirty|forty|fifty|sixty"
NUMBER = (
    rf"\d{{1,3}}(?:\.5)?|(?:{TENS})[- ](?:one|two|three|four|five|six|seven|eight|nine)|"
    rf"{one_of(NUMBERS)}|(?:a\s+)?(?:few|several)|half\s+an?"
)
APPROX = r"(?:about|around|almost|nearly|roughly|approximately|approx\.?|like|some|maybe)"
OPEN_ENDED = r"(?:over|more\s+than|at\s+least|less\s+than|under|well\s+over)"
CLOCK_UNIT = r"(?:min(?:ute)?|h(?:ou)?r)s?"
DATE_UNIT = (
    r"(?:day|night|evening|week|wk|weekend|fortnight|month|quarter|year|yr|decade|summer|"
    r"winter|spring|autumn|fall)s?"
)
UNIT = rf"(?:{CLOCK_UNIT}|{DATE_UNIT})"
PART = r"(?:early\s+|late\s+)?(?:morning|afternoon|evening|night|lunchtime|noon)"
BACK = r"(?:this\s+past|this\s+last|last|previous)"
AHEAD = r"(?:this\s+coming|this\s+upcoming|this\s+next|next|coming|upcoming)"
EDGE = (
    r"(?:(?:the\s+)?(?:very\s+)?(?:beginning|start|middle|end)\s+of(?:\s+the)?(?=\s)|"
    r"early(?:\s+in(?:\s+the)?)?|late(?:\s+in(?:\s+the)?)?|mid(?:dle)?)"
)

YEAR = r"(?:1[89]|20)\d{2}"
COMMA_YEAR = rf"(?:,?\s+(?:of\s+)?(?P<y>{YEAR})\b(?![:/-]))?"
# Lookbehinds are fixed in width, so each word comes with the non-letter before it.
NOT_EVERY = "".join(
    rf"(?<!\b{word} )"
    for word in ("every", "each", "most", "any", "some", "all", "per", "black", "good")
)


def fold(words: str) -> str:
    """Lower-case words, straighten apostrophes and fold whitespace, for table look-up."""
    return " ".join(words.lower().replace("’", "'").split())


def number(words: str) -> float | None:
    """Return the value of a number phrase; None for "few" and "several"; halves as .5."""
    said = fold(words)
    if said.endswith(("few", "several")):
        return None
    if said.startswith("half"):
        return 0.5
    if said[0].isdigit():
        return float(said)
    if said in NUMBERS:
        return float(NUMBERS[said])
    tens, _, ones = said.replace("-", " ").partition(" ")
    return float(NUMBERS[tens] + NUMBERS[ones])


def unit(word: str) -> str:
    """Return the calendar unit of a unit word, singular or plural."""
    said = fold(word)
    return UNITS.get(said) or UNITS[said.removesuffix("s")]


def edge(words: str) -> str:
    """Return which part of a month or year a word such as "end of" means."""
    said = fold(words)
    if "end" in said or "late" in said:
        return "late"
    return "mid" if "mid" in said else "early"


def way(rel: str) -> int:
    """Return -1 for "last" and its like, 1 for "next", 0 for "this"."""
    said = fold(rel).removeprefix("the ")
    if said in BACKWARD:
        return -1
    return 1 if said in FORWARD else 0
