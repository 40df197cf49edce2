"""Time expressions of cited messages: each message is read once, and a giant one only in part.

Reading costs grow with the text, and one message is cited by many events. A text of up to
`MAX_READ` code points is read whole; of a longer one only what stands about given places is,
or, where none is given, its first `MAX_READ` code points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from shared.domain.temporal.resolver import resolve
from shared.domain.temporal.values import TimeExpression

MAX_READ = 20_000
"""Code points of a message that are read for times when nothing says where to look."""

AROUND = 1_000
"""Code points read before and after a wording in a longer message: more than any clause has."""

MAX_PLACES = 8
"""Places of one wording that are looked at in a longer message."""


def expressions_in(
    text: str,
    mentioned_at: datetime,
    zone: str,
    *,
    places: Sequence[tuple[int, int]] | None = None,
) -> list[TimeExpression]:
    """Return the time expressions of a message, in text order, with their spans in it.

    `places` are spans of the wording that is looked for; what is given for a longer message
    holds at least every expression that overlaps one of the first `MAX_PLACES` of them.
    Raises InvalidInput as `resolve` does.
    """
    if len(text) <= MAX_READ:
        return list(_read(text, mentioned_at, zone))
    if places is None:
        return list(_read(text[: _blank_after(text, MAX_READ)], mentioned_at, zone))
    return [
        replace(one, span=(one.span[0] + start, one.span[1] + start))
        for start, stop in _windows(text, places[:MAX_PLACES])
        for one in _read(text[start:stop], mentioned_at, zone)
    ]


@lru_cache(maxsize=64)
def _read(text: str, mentioned_at: datetime, zone: str) -> tuple[TimeExpression, ...]:
    return tuple(resolve(text, mentioned_at, zone))


def _windows(text: str, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches about the places, none overlapping another, cut between words."""
    windows: list[tuple[int, int]] = []
    for begin, end in places:
        start = max(0, begin - AROUND)
        start = 0 if start == 0 else _blank_after(text, start)
        stop = _blank_after(text, end + AROUND)
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(stop, windows[-1][1]))
        else:
            windows.append((start, stop))
    return windows


def _blank_after(text: str, position: int) -> int:
    """Return where the next word ends, looking no further than a window is wide."""
    blank = text.find(" ", position, position + AROUND // 2)
    return blank if blank >= 0 else min(position, len(text))
