"""Secrets that a name gives away: `password = x`, `"api_key": "x"`, `<token>x</token>`.

The value ends at white space, a comma or a semicolon unless it is quoted; full-width marks
count as theirs do. Inside JSON the quotes stay, so that the text still parses.
"""

from __future__ import annotations

import re
from typing import Final

from shared.domain.secret_formats import REDACTED, substitute

PASSWORD_NAMES: Final = r"pass(?:[ -]?word|wd|code|phrase|key)s?|passwd|pwd"  # noqa: S105 - a pattern
SECRET_NAMES: Final = (
    rf"(?:{PASSWORD_NAMES}|secret[_\-. ]?access[_\-. ]?key"
    r"|(?:api|secret|private|access|account|encryption|signing|master|auth|client|shared"
    r"|storage)[_\-. ]?keys?"
    r"|secret|token|credentials?|(?<=[_\-])pass|(?<=[_\-])pw"
    r"|(?<![A-Za-z])pin[ _-]?code"
    r"|密码|口令|密钥|令牌|私钥|暗号)"
)
"""Names whose value is a secret, for use in patterns that ignore case."""

_SUFFIX = r"(?:[_-]?(?:value|plain|text|b64|base64))?"
_ENDS = re.compile(rf"(?:{SECRET_NAMES}){_SUFFIX}\s*$", re.IGNORECASE)
_TOKEN_NAME = re.compile(r"tokens?\s*$", re.IGNORECASE)
_HINTS = ("pass", "pwd", "secret", "token", "credential", "-pw", "_pw", "phrase", "mnemonic")
_KEY_HINT = re.compile(
    r"(?:api|secret|private|access|account|encryption|signing|master|auth|client|shared|storage)"
    r"[_\-. ]?key"
)
_PIN_HINT = re.compile(r"(?<![a-z])pin(?:code)?(?![a-z])")
_WORDS_HINT = re.compile(r"(?:seed|recovery|backup)[- ]word")
_HAN_HINTS = ("密码", "口令", "密钥", "令牌", "私钥", "暗号", "助记词")

_END_OF_MARK = r"(?=[.)\]}\"'」”]*(?:[\s,;，；。]|$))"
_QUOTED = (
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\\n])*\'|`[^`\n]*`'
    r"|“[^”\n]*”|‘[^’\n]*’|「[^」\n]*」|『[^』\n]*』"
)
_ESCAPED = r"(?P<esc>\\+[\"'])(?:(?!(?<!\\)(?P=esc)).)*(?<!\\)(?P=esc)"
_GROUPED = rf"(?:\[[^\[\]]*\]|\{{[^{{}}]*\}}){_END_OF_MARK}"
_OPEN_QUOTE = r"[\"'`“][^\n]*"
# Past a comma the value goes on only where what follows is clearly more of a secret.
_MORE = r"(?:[,;](?=[^\s,;]{8})(?=[^\s,;=:]*[0-9])(?=[^\s,;=:]*[A-Za-z])[^\s,;=:]+(?![=:]))*"
_BARE = rf"[^\s,;，；。]+{_MORE}"
_BARE_IN_JSON = r"[^\s,;}\]]+"
_SEPARATOR = r"(?:=>|:=|={1,3}|:(?!:|//)|：|＝)"
_GAP = r"[ \t]*(?:\r?\n[ \t]*)?"
_ASIDE = r"(?:[ \t]*[(（][^()（）\n]{0,40}[)）])?"

_ASSIGNED = re.compile(
    rf"(?P<name>{SECRET_NAMES}{_SUFFIX}){_ASIDE}[*_]{{0,2}}\s*{_SEPARATOR}[*_]{{0,2}}{_GAP}"
    rf"(?P<value>{_QUOTED}|{_ESCAPED}|{_GROUPED}|{_OPEN_QUOTE}|{_BARE})",
    re.IGNORECASE | re.DOTALL,
)
_KEYED = re.compile(
    rf"(?P<head>{SECRET_NAMES}{_SUFFIX}(?P<mark>\\*[\"'`])\s*{_SEPARATOR}\s*)"
    rf"(?P<value>{_QUOTED}|{_ESCAPED}|{_GROUPED}|{_OPEN_QUOTE}|{_BARE_IN_JSON})",
    re.IGNORECASE | re.DOTALL,
)
_ELEMENT = re.compile(
    rf"(?P<head><[\w:.-]{{0,40}}?{SECRET_NAMES}(?:\s[^<>]{{0,200}})?>)[^<>]+(?=</)",
    re.IGNORECASE,
)
_OPTION = re.compile(
    rf"(?P<head>(?<!\S)--?[\w-]{{0,40}}?{SECRET_NAMES}[ \t]+)(?P<value>{_QUOTED}|[^\s-]\S*)",
    re.IGNORECASE,
)
_NO_SECRETS = frozenset({"null", "none", "true", "false", "undefined"})


def is_secret_name(name: str) -> bool:
    """Tell whether a key or field of this name holds a secret: the name ends in such a word."""
    return _ENDS.search(name) is not None


def is_token_name(name: str) -> bool:
    """Tell whether the name is of a token; a small number under it is a count, no secret."""
    return _TOKEN_NAME.search(name) is not None


def may_name_secrets(text: str) -> bool:
    """Tell cheaply whether a text could hold any of the names at all."""
    lowered = text.lower()
    if any(hint in lowered for hint in _HINTS) or any(hint in text for hint in _HAN_HINTS):
        return True
    if "key" in lowered and _KEY_HINT.search(lowered):
        return True
    if "pin" in lowered and _PIN_HINT.search(lowered):
        return True
    return "word" in lowered and _WORDS_HINT.search(lowered) is not None


def redact_named(text: str) -> str:
    """Replace the values of secret names in assignments, JSON, markup and command lines."""
    text = substitute(_KEYED, text, _keyed)
    text = _ASSIGNED.sub(rf"\g<name>={REDACTED}", text)
    text = _ELEMENT.sub(rf"\g<head>{REDACTED}", text)
    return _OPTION.sub(rf"\g<head>{REDACTED}", text)


def _keyed(match: re.Match[str]) -> str | None:
    value, mark = match["value"], match["mark"]
    if value.lower() in _NO_SECRETS:
        return None
    if match["esc"]:
        mark = match["esc"]
    elif value[0] in "\"'`":
        mark = value[0]
    return f"{match['head']}{mark}{REDACTED}{mark}"
