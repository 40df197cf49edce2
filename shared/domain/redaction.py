"""Secrets taken out of what models and readers see, before storage and again on the way out.

What goes is replaced by a mark; that there was a secret stays readable (D27, D38). Redacting
twice changes nothing.
"""

from __future__ import annotations

import re
from typing import Any, Final

from shared.domain.secret_formats import REDACTED, redact_formats
from shared.domain.secret_names import (
    is_secret_name,
    is_token_name,
    may_name_secrets,
    redact_named,
)
from shared.domain.secret_phrases import redact_phrases, redact_word_phrases

_MAX_PASSES: Final = 6
_COUNT_LIMIT: Final = 1_000_000
# Characters without a width and full-width letters: a name in them reads as in plain ones.
_UNSEEN: Final = "\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_DISGUISE: Final = re.compile(f"[{_UNSEEN}\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
_UNSEEN_RUN: Final = re.compile(rf"(?<=\w)[{_UNSEEN}]+|[{_UNSEEN}]+(?=\w)")
_WIDE: Final = {
    wide: wide - 0xFEE0
    for wide in (
        0xFF0D,
        0xFF3F,
        *range(0xFF10, 0xFF1A),
        *range(0xFF21, 0xFF3B),
        *range(0xFF41, 0xFF5B),
    )
}
_NAME_KEYS: Final = ("name", "key", "field", "header", "variable")


def redact(text: str) -> str:
    """Return the text with every recognised secret replaced by a mark.

    Covers keys of well-known vendors, bearer and basic credentials, JWTs, PEM blocks, URLs
    with passwords, `name = value` and JSON pairs with a secret's name, and phrases such as
    "the password is X" in English and Chinese. Where a secret only shows once full-width
    letters and characters without a width are read as plain, the text comes back plain.
    """
    redacted = _redacted(text)
    plain = _plain(redacted)
    if plain == redacted:
        return redacted
    told = _redacted(plain)
    return redacted if told == plain else told


def _redacted(text: str) -> str:
    for _ in range(_MAX_PASSES):
        redacted = _once(text)
        if redacted == text:
            break
        text = redacted
    return text


def redact_value(value: Any) -> Any:
    """Return a JSON value with every text in it redacted, keys included.

    Under a key that names a secret every text and number goes; null, true and false stay, and
    so do numbers below a million under a key that names a token, for those are counts. An
    object of the form {"name": "password", "value": …} is read as that pair.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return _redact_object(value)
    if isinstance(value, list | tuple):
        return [redact_value(item) for item in value]
    return value


def _plain(text: str) -> str:
    if not _DISGUISE.search(text):
        return text
    return _UNSEEN_RUN.sub("", text).translate(_WIDE)


def _once(text: str) -> str:
    text = redact_formats(text)
    if not may_name_secrets(text):
        return text
    # Phrases of several words first: an assignment would end at their first blank.
    return redact_phrases(redact_named(redact_word_phrases(text)))


def _redact_object(value: dict[Any, Any]) -> dict[str, Any]:
    pair_name = next((value[k] for k in _NAME_KEYS if isinstance(value.get(k), str)), "")
    is_secret_pair = "value" in value and is_secret_name(_plain(pair_name))
    made: dict[str, Any] = {}
    for key, item in value.items():
        name = str(key)
        if is_secret_name(_plain(name)) or (is_secret_pair and name == "value"):
            made[_free_key(made, name)] = _blotted(item, is_token=is_token_name(name))
        else:
            made[_free_key(made, redact(name))] = redact_value(item)
    return made


def _free_key(made: dict[str, Any], name: str) -> str:
    """Keep apart keys that only their secrets told apart."""
    count, free = 1, name
    while free in made:
        count += 1
        free = f"{name} ({count})"
    return free


def _blotted(value: Any, *, is_token: bool) -> Any:
    if value is None or isinstance(value, bool) or value == "":
        return value
    if isinstance(value, int | float):
        is_count = is_token and abs(value) < _COUNT_LIMIT
        return value if is_count else REDACTED
    if isinstance(value, dict):
        return {str(key): _blotted(item, is_token=is_token) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_blotted(item, is_token=is_token) for item in value]
    return REDACTED
