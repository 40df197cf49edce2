"""Secrets that their own form gives away: vendor keys, tokens, PEM blocks, URLs with passwords.

Each rule is linear in the text. Edges are ASCII, so that a key glued to Chinese text is seen.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final

TOKEN: Final = "[REDACTED_TOKEN]"  # noqa: S105 - the mark that replaces a token, not one
PEM: Final = "[REDACTED_PEM]"
REDACTED: Final = "[REDACTED]"
"""The marks left where a secret stood."""

# A key may stand right behind an escape of JSON or of a URL, whose last character is no edge.
_BEFORE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
_VENDOR_KEYS = re.compile(
    _BEFORE
    + r"""(?:
      (?i:sk_|rk_|sg_|gh[opausr]_|github_pat_|whsec_|npm_|hf_|glpat-|dop_v1_|shpat_)
          [A-Za-z0-9_-]{11,}[A-Za-z0-9_]
    | (?i:sk-)(?=[A-Za-z0-9_-]*[0-9A-Z]|[A-Za-z0-9_-]{20})[A-Za-z0-9_-]{11,}[A-Za-z0-9_]
    | (?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA)[A-Z0-9]{12,}(?![a-z_])
    | AIza[A-Za-z0-9_-]{20,}
    | ya29\.[A-Za-z0-9_.-]{16,}
    | GOCSPX-[A-Za-z0-9_-]{16,}
    | (?i:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}
    | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
    | pypi-[A-Za-z0-9_-]{16,}
    | [0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])
    )""",
    re.VERBOSE,
)
_JWT = re.compile(_BEFORE + r"eyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){1,4}")
_SLACK_HOOK = re.compile(r"(hooks\.slack\.com/(?:services|workflows)/)[A-Za-z0-9/_-]{8,}")
_PEM_OPENING = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,60})-----")
# A block cut off before its end: its lines, to the first that is not one of them.
_PEM_LINES = re.compile(r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{12,})+(?:\s|\\[nr])*[A-Za-z0-9+/]*={0,2}")
_BEARER = re.compile(_BEFORE + r"(?i:(bearer\s+))[A-Za-z0-9._~+/-]{12,}")
_AUTHORIZATION = re.compile(
    r"(?i:(authorization[\"']?\s*[:=：＝]\s*[\"']?(?:basic|token|api-?key|digest|negotiate)\s+))"
    r"(?!\[REDACTED)[^\s\"',;]{4,}"
)
_BASIC = re.compile(_BEFORE + r"(?i:(basic\s+))([A-Za-z0-9+/_-]{6,}={0,2})")
_URL_PASSWORD = re.compile(
    r"(?P<head>://[^\s/?\#:@\"'<>]*:)"
    r"(?:[^\s/?\#\"'<>]{1,500}|(?![0-9]{1,5}[/?])[^\s\"'<>]{1,500}?)"
    r"(?=@[^\s/@:]*[A-Za-z0-9\]])"
)
_CURL_USER = re.compile(r"(?<!\S)((?:-u|--user|--proxy-user)[ =]['\"]?[^\s:'\"]{1,100}:)[^\s'\"]+")

_DATABASE_SHELL = re.compile(
    r"((?<![\w-])(?:mysql|mariadb)[\w-]{0,20}[^\n|;&]{0,300}?\s-p)(?!\[REDACTED)"
    r"(?:'[^'\n]+'|\"[^\"\n]+\"|(?:[^\s`\"\\]|\\(?!\"))+)"
)


def redact_formats(text: str) -> str:
    """Replace every secret that is recognised by its form alone."""
    text = _redact_pem(text)
    text = _VENDOR_KEYS.sub(TOKEN, text)
    text = _BEARER.sub(rf"\1{REDACTED}", text)
    text = _AUTHORIZATION.sub(rf"\1{REDACTED}", text)
    text = _BASIC.sub(_basic, text)
    text = _JWT.sub(TOKEN, text)
    text = _SLACK_HOOK.sub(rf"\1{REDACTED}", text)
    text = _URL_PASSWORD.sub(rf"\g<head>{REDACTED}", text)
    text = _CURL_USER.sub(rf"\1{REDACTED}", text)
    return _DATABASE_SHELL.sub(rf"\1{REDACTED}", text)


def substitute(
    pattern: re.Pattern[str], text: str, replace: Callable[[re.Match[str]], str | None]
) -> str:
    """Replace matches; where `replace` says None, go on one character after the match's start.

    Unlike `re.sub`, a match that is declined does not hide another one inside it.
    """
    parts: list[str] = []
    done = position = 0
    while (match := pattern.search(text, position)) is not None:
        new = replace(match)
        if new is None or match.end() == match.start():
            position = match.start() + 1
            continue
        parts += [text[done : match.start()], new]
        done = position = match.end()
    return "".join([*parts, text[done:]])


def _redact_pem(text: str) -> str:
    """Replace PEM blocks, ended or cut off; an opening line with nothing behind it stays."""
    parts: list[str] = []
    done = 0
    unended: set[str] = set()
    for opening in _PEM_OPENING.finditer(text):
        if opening.start() < done:
            continue
        ending = f"-----END {opening[1]}-----"
        # A kind without an end once has none further on: remembered, so that time stays linear.
        at = -1 if opening[1] in unended else text.find(ending, opening.end())
        if at >= 0:
            end = at + len(ending)
        else:
            unended.add(opening[1])
            lines = _PEM_LINES.match(text, opening.end())
            if lines is None:
                continue
            end = lines.end()
        parts += [text[done : opening.start()], PEM]
        done = end
    return "".join([*parts, text[done:]])


def _basic(match: re.Match[str]) -> str:
    """Redact what decodes to `user:password`, so that "basic understanding" stays prose."""
    intro, value = match.groups()
    padded = value.rstrip("=").replace("-", "+").replace("_", "/")
    padded += "=" * (-len(padded) % 4)
    try:
        is_pair = b":" in base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        is_pair = False
    return f"{intro}{REDACTED}" if is_pair else match.group()
