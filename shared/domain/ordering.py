"""The order of ids and written times where scores tie: root collation, not code units.

Covers what ids and RFC 3339 times are made of (ASCII); other characters follow in code-point
order, which keeps the order total and stable.
"""

from __future__ import annotations

# Root collation puts punctuation before digits before letters, in this sequence.
_PUNCTUATION = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_RANK = {char: rank for rank, char in enumerate(_PUNCTUATION)}
_DIGITS_FROM = 100
_LETTERS_FROM = 200
_OTHERS_FROM = 1000

CollationKey = tuple[tuple[int, ...], tuple[bool, ...], str]


def collation_key(text: str) -> CollationKey:
    """Return a sort key: characters by collation rank, then lower before upper case."""
    # Ids come by the hundred: a table and one look at the whole text save most of the time.
    rank_of = _ASCII.__getitem__ if text.isascii() else _primary
    ranks = tuple(map(rank_of, text))
    if text.islower():
        return ranks, (False,) * len(text), text
    return ranks, tuple(map(str.isupper, text)), text


def _primary(char: str) -> int:
    if char in _RANK:
        return _RANK[char]
    if "0" <= char <= "9":
        return _DIGITS_FROM + ord(char) - ord("0")
    lower = char.lower()
    if "a" <= lower <= "z":
        return _LETTERS_FROM + ord(lower) - ord("a")
    return _OTHERS_FROM + ord(char)


_ASCII = {chr(code): _primary(chr(code)) for code in range(128)}
