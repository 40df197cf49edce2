"""Secrets told in a sentence: "the password is X", "密码是X" (D38).

A value is taken for a secret when it is quoted, when it looks like one, or, after a word for
password, when it stands alone and is no ordinary word. "The token is expired" stays.
"""

from __future__ import annotations

import re

from shared.domain.ordinary_words import GRAMMAR_WORDS, ORDINARY_WORDS, STATEMENT_OPENERS
from shared.domain.secret_formats import REDACTED, substitute
from shared.domain.secret_names import PASSWORD_NAMES, SECRET_NAMES

_PIN = r"(?<![A-Za-z])PIN(?:\s+(?:code|number))?(?![A-Za-z])"
_PHRASE_NAMES = (
    r"pass[- ]?phrase|(?:seed|recovery|backup)[- ](?:phrase|words?)|mnemonic(?:[- ]phrase)?|助记词"
)
_THING = r"(?:[^\n.;:=,!?：＝]|[.:](?=[^\s])){1,60}?"
_OF_SOMETHING = rf"(?:\s+(?:for|of|to|on|at|in|from)\s+{_THING})?"
_VERB = r"(?:is|was|are|were|be|being|becomes?|equals|remains|will\s+be|has\s+been|to|'s|’s|as)"
_ADVERB = r"(?:now|still|currently|always|just|simply|actually|also|changed|set|reset|updated|to)"
_LINK = (
    rf"{_OF_SOMETHING}(?:\s+|(?=['’]s))(?:(?:changed|set|reset|updated)\s+)?{_VERB}"
    rf"(?:\s+{_ADVERB})*[:,]?\s+"
)
_QUOTES = "\"'`“”‘’「」『』"
_QUOTED = r"\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`|“[^”\n]+”|‘[^’\n]+’|「[^」\n]+」|『[^』\n]+』"

_SAID = re.compile(
    rf"(?P<head>(?P<name>{SECRET_NAMES}|{_PIN}){_LINK})(?!\[REDACTED)"
    rf"(?P<value>{_QUOTED}|\S{{1,200}})",
    re.IGNORECASE,
)
_NAMED_FOR = re.compile(
    rf"(?P<head>(?P<name>{SECRET_NAMES}|{_PIN})\s+(?:for|of|to|on|at)\s+{_THING}"
    rf"[:=：＝]\s*)(?!\[REDACTED)(?P<value>{_QUOTED}|\S{{1,200}})",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    rf"(?P<head>(?P<name>{PASSWORD_NAMES}|token|secret|api[_\- ]?key|{_PIN})\s+)(?!\[REDACTED)"
    rf"(?P<value>{_QUOTED}|\S{{1,200}})",
    re.IGNORECASE,
)
_PIN_ASSIGNED = re.compile(rf"(?P<head>{_PIN}\s*[:=：＝]\s*)[0-9]{{3,12}}(?![0-9])", re.IGNORECASE)
_WORDS_LONG = re.compile(
    rf"(?P<head>(?:{_PHRASE_NAMES})(?:\s*[:=：＝]\s*|{_LINK}|\s*[是为]\s*))(?!\[REDACTED)"
    rf"(?P<value>{_QUOTED}|[^\n.;。；]+)",
    re.IGNORECASE,
)
_ARROW = re.compile(
    rf"(?P<head>(?P<name>{SECRET_NAMES}|{_PIN})[*_`]{{0,2}}[ \t]*(?:-{{1,2}}>|→|⇒)[ \t]*)"
    rf"(?!\[REDACTED)(?P<value>{_QUOTED}|\S+)",
    re.IGNORECASE,
)
_AFTER_ARROW = re.compile(r"(?:->|→|=>|⇒)[ \t]*[\w ]{0,30}$")
_CELLS = re.compile(
    rf"(?P<head>\|[ \t]*[*_`]{{0,2}}(?:[\w-]+ ){{0,3}}(?P<name>{SECRET_NAMES}|{_PIN})[*_`]{{0,2}}"
    rf"[ \t]*\|[ \t]*)(?!\[REDACTED)(?P<value>{_QUOTED}|[^\s|]+)(?=[ \t]*(?:\||$))",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"[^\n]{0,400}\n[ \t]*\|?[ \t]*:?-{2,}")
_COLUMNS = (
    "string str text varchar bytes char user username name email role type value url host port "
    "notes description int integer number bool boolean enum - — n/a"
)
_COLUMN_WORDS = frozenset(_COLUMNS.split())
_REVERSED = re.compile(
    rf"(?<!\S)(?P<value>\S{{4,200}})(?P<tail>\s+(?:is|was|as)\s+"
    rf"(?:(?:the|my|our|your|his|her|their|a)\s+)?(?:[\w-]+\s+){{0,3}}?(?P<name>{SECRET_NAMES}))",
    re.IGNORECASE,
)
_FROM_TO = re.compile(
    rf"(?P<head>(?P<name>{SECRET_NAMES})(?:\s+(?:was|has|been|changed|reset|updated))*\s+from\s+)"
    r"(?P<old>\S{1,200})(?P<to>\s+to\s+)(?P<new>\S{1,200})",
    re.IGNORECASE,
)
_HAN_SAID = re.compile(
    r"(?P<head>(?P<name>密码|口令|密钥|令牌|私钥|暗号|pass(?:word|code)|pwd|token|api\s?key|secret)"
    r"(?:已经?|现在|目前|就|被|后来|一直|还|也|都)*"
    r"\s*(?:是|为|叫做?|改成|改为|设成|设为|设置为|设置成|换成|换为|更新为|重置为)了?\s*)(?!\[REDACTED)"
    rf"(?P<value>{_QUOTED}|[!-+\--:<-~]+|[^\s，。；、！？,;!?]+)",
    re.IGNORECASE,
)
_HAN_REVERSED = re.compile(
    r"(?P<value>(?<![!-~])[!-~]{4,200})(?P<tail>\s*就?是(?:我的|新的|新|该|这个|你的|他的|她的)?(?:密码|口令|密钥))"
)
_STANDS_ALONE = re.compile(
    r"\s*(?:$|\n|[.!?。！？,，;；)）]|[-–—]\s|(?:and|but|so|please|for|on|now|thanks|too|instead)\b)",
    re.IGNORECASE,
)
_ASCII_WORD = re.compile(r"[!-~]+")
_CLOSING = ".,;:!?)]}。，；、！？）\"'”」"


def redact_word_phrases(text: str) -> str:
    """Replace pass phrases of several words, to the end of their sentence or line."""
    return substitute(_WORDS_LONG, text, _words)


def redact_phrases(text: str) -> str:
    """Replace secrets told in English and Chinese sentences."""
    for pattern in (_SAID, _NAMED_FOR):
        text = substitute(pattern, text, _said)
    text = substitute(_ARROW, text, _pointed)
    text = substitute(_CELLS, text, _celled)
    text = _PIN_ASSIGNED.sub(rf"\g<head>{REDACTED}", text)
    text = substitute(_FROM_TO, text, _from_to)
    text = substitute(_BESIDE, text, _beside)
    text = substitute(_HAN_SAID, text, _han_said)
    for pattern in (_REVERSED, _HAN_REVERSED):
        text = substitute(pattern, text, _reversed)
    return text


def _words(match: re.Match[str]) -> str | None:
    words = [word.strip(_CLOSING + _QUOTES).lower() for word in match["value"].split()]
    is_assigned = match["head"].rstrip()[-1] in ":=：＝"
    is_statement = not words or (words[0] in ORDINARY_WORDS and not _is_word_list(words))
    if not words or (is_statement and not is_assigned):
        return None
    return match["head"] + REDACTED


def _is_word_list(words: list[str]) -> bool:
    """Tell "correct horse battery staple" from "stored in the vault"."""
    return len(words) >= 3 and not any(word in GRAMMAR_WORDS for word in words)


def _said(match: re.Match[str]) -> str | None:
    value = match["value"]
    if value[0] in _QUOTES and value[-1] in _QUOTES and len(value) > 1:
        return match["head"] + REDACTED
    core = value.rstrip(_CLOSING).lstrip(_QUOTES)
    rest = _closing(value)
    after = rest + match.string[match.end() : match.end() + 40]
    if _is_pin(match["name"]):
        is_code = core.isdigit() and 3 <= len(core) <= 12
        if is_code:
            return match["head"] + REDACTED + rest
        if not _is_password(match["name"]):
            return None
    is_password = _is_password(match["name"])
    stands_alone = is_password and _STANDS_ALONE.match(after) is not None
    is_word = core.lower() in ORDINARY_WORDS or len(core) < 3
    if _looks_secret(core, is_password=is_password) or (stands_alone and not is_word):
        return match["head"] + REDACTED + rest
    return None


def _pointed(match: re.Match[str]) -> str | None:
    """Redact what an arrow points to; between two arrows a plain word is a step, no secret."""
    is_step = _AFTER_ARROW.search(match.string, max(0, match.start() - 40), match.start())
    core = match["value"].strip(_CLOSING + _QUOTES)
    if is_step and not _looks_secret(core, is_password=True):
        return None
    return _said(match)


def _celled(match: re.Match[str]) -> str | None:
    """Redact the table cell beside a secret's name, unless it heads a column or names a type."""
    core = match["value"].strip(_CLOSING + _QUOTES)
    if _looks_secret(core, is_password=True):
        return match["head"] + REDACTED
    is_heading = _HEADING.match(match.string, match.end())
    if is_heading or not core or core.lower() in ORDINARY_WORDS | _COLUMN_WORDS:
        return None
    return match["head"] + REDACTED


def _beside(match: re.Match[str]) -> str | None:
    value = match["value"]
    core = value.strip(_CLOSING + _QUOTES)
    has_both = bool(re.search(r"[0-9]", core) and re.search(r"[A-Za-z]", core))
    if _is_pin(match["name"]):
        has_both = core.isdigit() and len(core) <= 12
    least = 4 if _is_pin(match["name"]) else 6 if _is_password(match["name"]) else 12
    if has_both and len(core) >= least and not core.lower().startswith(("http", "v")):
        return match["head"] + REDACTED + _closing(value)
    return None


def _from_to(match: re.Match[str]) -> str | None:
    is_password = _is_password(match["name"])
    made = {}
    for key in ("old", "new"):
        core = match[key].strip(_CLOSING + _QUOTES)
        hides = _looks_secret(core, is_password=is_password) and not _is_mark(match[key])
        made[key] = REDACTED + _closing(match[key]) if hides else match[key]
    if made["old"] == match["old"] and made["new"] == match["new"]:
        return None
    return match["head"] + made["old"] + match["to"] + made["new"]


def _reversed(match: re.Match[str]) -> str | None:
    core = match["value"].strip(_CLOSING + _QUOTES)
    if _is_mark(match["value"]) or not _looks_secret(core, is_password=True):
        return None
    return REDACTED + match["tail"]


def _han_said(match: re.Match[str]) -> str | None:
    value = match["value"]
    if value[0] in _QUOTES:
        return match["head"] + REDACTED
    word = _ASCII_WORD.match(value)
    if word is not None:
        core = word.group().rstrip(_CLOSING)
        if len(core) < 4 or core.lower() in ORDINARY_WORDS:
            return None
        return match["head"] + REDACTED + value[len(core) :]
    if value.startswith(STATEMENT_OPENERS) or len(value) > 24:
        return None
    return match["head"] + REDACTED


def _is_mark(value: str) -> bool:
    return "[REDACTED" in value


def _closing(value: str) -> str:
    """Return the punctuation that closes a sentence behind a value; a long run is the value's."""
    rest = value[len(value.rstrip(_CLOSING)) :]
    return rest if len(rest) <= 3 else ""


def _is_password(name: str) -> bool:
    lowered = name.lower()
    is_pin_code = _is_pin(name) and lowered.endswith("code")
    return is_pin_code or lowered.startswith(("pass", "pwd", "密码", "口令", "暗号"))


def _is_pin(name: str) -> bool:
    return name.lower().startswith("pin")


def _looks_secret(word: str, *, is_password: bool) -> bool:
    """Tell whether a word reads as a made-up string rather than as language or a figure."""
    if word.lower() in ORDINARY_WORDS:
        return False
    digits = sum(char.isdigit() for char in word)
    letters = sum(char.isalpha() for char in word)
    if is_password:
        has_mark = re.search(r"[!@#$%^&*+=~|\\/<>{}\[\]_]", word) is not None
        is_mixed = re.search(r"[a-z][A-Z]", word) is not None
        if (digits and letters) or digits >= 4 or (letters and (has_mark or is_mixed)):
            return len(word) >= 4
    return len(word) >= 20 or (len(word) >= 6 and digits > 0 and letters > 0)
