"""What the search index calls things by: hashes of terms and corpora, and postings in one number.

Both sides of a search use the same hashes; 64 bits of SHA-256 keep a namespace's terms apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Final

MAX_FREQUENCY: Final = 63
"""The most often that a term counts in a document: far beyond where BM25 saturates."""

MAX_LENGTH: Final = 32_767
"""The longest that a document counts as in its postings, in terms."""

NUMBER_SHIFT: Final = 21
LENGTH_BITS: Final = 15
"""A posting is `number << 21 | frequency << 15 | length`."""


class DocumentKind(StrEnum):
    """What a search document stands for."""

    MESSAGE = "message"
    EVENT = "event"
    NODE = "node"


@lru_cache(maxsize=131_072)
def term_hash(term: str) -> int:
    """Return what a term is stored as: the first 64 bits of its SHA-256, signed."""
    return _hash(term)


@lru_cache(maxsize=16_384)
def corpus_hash(namespace: str, kind: DocumentKind, version: str) -> int:
    """Return what one version of a namespace's documents of a kind is called within a tenant."""
    return _hash(f"{kind.value}\n{version}\n{namespace}")


def hashed(frequencies: Mapping[str, int]) -> tuple[list[int], bytes]:
    """Return a document's terms as stored, in the order of their hashes, and their frequencies."""
    held = sorted(
        (term_hash(term), min(frequency, MAX_FREQUENCY)) for term, frequency in frequencies.items()
    )
    return [term for term, _ in held], bytes(frequency for _, frequency in held)


def _hash(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big", signed=True)
