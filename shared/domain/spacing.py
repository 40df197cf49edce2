"""White space as the layer and gate rules mean it: one fixed set of characters, everywhere.

Python's own `str.strip` takes control separators for white space and leaves the byte order
mark, so two services could disagree about the same text; these rules name the set.
"""

from __future__ import annotations

import re

_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
WHITE_SPACE = f"[{_SPACE}]"
"""A regular expression class of one white-space character."""

_RUN = re.compile(f"{WHITE_SPACE}+")


def trim(text: str) -> str:
    """Return the text without white space at either end."""
    return text.strip(_SPACE)


def collapse(text: str) -> str:
    """Return the text with every run of white space as one blank; the ends are kept."""
    return _RUN.sub(" ", text)
