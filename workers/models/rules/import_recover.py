"""Candidates from an import's broken text: pairs of a cut-off export, else its plain lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from workers.models.inputs import ImportRecoverInput

_MOST: Final = 200
_TITLE: Final = 80
_WORDS: Final = 2
_STRING: Final = r'"((?:[^"\\]|\\.)*)"'
_PAIR: Final = re.compile(
    rf'"title"\s*:\s*{_STRING}(?P<between>[^{{}}]*?)"summary"\s*:\s*{_STRING}', re.DOTALL
)
_BULLET: Final = re.compile(r"^(?:[-*•–—]|\d{1,3}[.)、])\s*")
_ITEM_BREAK: Final = re.compile(r"\s+[-*•]\s+")
_HEADING: Final = re.compile(r"^[\w ]{1,40}[:：]\s*$")
_SYNTAX: Final = re.compile(r"[{}\[\]<>\"`]|^\W*$")


def recover_import(material: ImportRecoverInput) -> dict[str, object]:
    """Return what can be read, in the shape of a model's reply."""
    pairs = list(_pairs(material.text))
    found = pairs or [_candidate(line) for line in _lines(material.text)]
    return {"candidates": found[:_MOST]}


def _pairs(text: str) -> Iterator[dict[str, str]]:
    for match in _PAIR.finditer(text):
        title, summary = (_unquoted(match.group(number)) for number in (1, 3))
        if title and summary:
            yield {"title": title, "summary": summary}


def _unquoted(body: str) -> str | None:
    try:
        value = json.loads(f'"{body}"', strict=False)
    except ValueError:
        return None
    return str(value).strip() or None


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for item in _ITEM_BREAK.split(line.strip()):
            said = _BULLET.sub("", item.strip())
            if _is_statement(said):
                yield said


def _is_statement(said: str) -> bool:
    if _SYNTAX.search(said) or _HEADING.match(said):
        return False
    has_words = len(said.split()) >= _WORDS
    return has_words or any(ord(sign) > 0x2E7F for sign in said)


def _candidate(said: str) -> dict[str, str]:
    title = said if len(said) <= _TITLE else said[:_TITLE].rsplit(" ", 1)[0]
    return {"title": title.rstrip(".。"), "summary": said}
