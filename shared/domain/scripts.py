"""Character classes by script (Unicode 17), as bodies of regular-expression brackets.

The standard library knows general categories but no scripts; these few ranges are all that the
word break and the search terms ask for.
"""

from __future__ import annotations

HAN = (
    "\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9\U00016fe2-\U00016fe3"
    "\U00016ff0-\U00016ff6\U00020000-\U0002a6df\U0002a700-\U0002b81e\U0002b820-\U0002cead"
    "\U0002ceb0-\U0002ebe0\U0002ebf0-\U0002ee5d\U0002f800-\U0002fa1d\U00030000-\U0003134a"
    "\U00031350-\U00033479"
)
"""Script=Han, iteration marks included."""

HIRAGANA = "\u3041-\u3096\u309d-\u309f\U0001b001-\U0001b11f\U0001b150-\U0001b152"

KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001b120-\U0001b122\U0001b164-\U0001b167"
"""Katakana with the prolonged sound mark, which only ever lengthens a kana."""

HANGUL = "\uac00-\ud7a3"
"""Composed syllables: after NFKC a Korean word holds nothing else."""
