"""Derived texts on their way out are redacted once more (D27).

They were drawn from redacted messages; this is the second wall, for what a model or an older
rule let through. Messages have their redacted view stored and need none.
"""

from __future__ import annotations

from functools import lru_cache

from shared.domain.redaction import redact


@lru_cache(maxsize=8_192)
def shown_text(text: str) -> str:
    """Return a derived text as readers see it. Events never change, so their texts are kept."""
    return redact(text)
