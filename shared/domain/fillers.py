"""Filler removal: bare confirmations leave the condensed layer, all else stays (section 3).

The list is closed. Nothing is guessed: a sentence goes only when, without its closing marks,
it is exactly one of these words.
"""

from __future__ import annotations

import re

from shared.domain.spacing import trim

FILLERS = frozenset(
    {
        "ok", "okay", "got it", "thanks", "thank you", "yes", "correct", "sure",
        "好", "好的", "嗯", "嗯嗯", "明白", "收到", "谢谢", "感谢", "辛苦了",
        "是", "是的", "对", "对的", "没错", "可以", "行", "同意", "就这样",
    }
)  # fmt: skip
"""Every filler, in lower case. Greetings are not among them (D48)."""

_CLOSING_MARKS = "。！？，、,.!?～~"
_PIECE_END = re.compile(r"(?<=[。！？!?])|\n+")


def remove_fillers(paragraph: str) -> str:
    """Return the paragraph without its filler sentences, trimmed; empty when all were.

    A paragraph without any filler keeps its line breaks and spacing. Otherwise the pieces
    kept stand one a line.
    """
    pieces = sentence_pieces(paragraph)
    kept = [piece for piece in pieces if not is_filler(piece)]
    if len(kept) == len(pieces):
        return trim(paragraph)
    return "\n".join(kept)


def sentence_pieces(paragraph: str) -> list[str]:
    """Split after 。！？!? and at line ends, trimmed, blanks dropped; full stops do not split."""
    return [piece for part in _PIECE_END.split(paragraph) if (piece := trim(part))]


def is_filler(piece: str) -> bool:
    """Tell whether a sentence is nothing but one of the fillers and its closing marks."""
    return trim(trim(piece).rstrip(_CLOSING_MARKS)).lower() in FILLERS
