"""Vectors as they are stored, and their comparison with a query.

A number takes one byte, a share of the vector's largest; the length of those bytes as a vector
stands behind them. numpy compares where it is installed; plain Python does the same, slower.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from operator import mul
from typing import Any, Final

from shared.domain.jobs import FailureClass
from shared.embeddings.port import EmbeddingError, Vector

_MOST: Final = 127
_TAIL: Final = struct.Struct("<f")
_AT_ONCE: Final = 512
"""Vectors turned into floats at a time: few enough to stay in the processor's cache."""


def pack(vector: Vector, *, dimension: int) -> bytes:
    """Return a vector as signed bytes, one a number, and their length as a 32-bit float.

    Raises EmbeddingError (malformed): `dimension_mismatch` for another length, `no_direction`
    for zeros, infinities or what is no number.
    """
    if len(vector) != dimension:
        raise EmbeddingError(
            FailureClass.MALFORMED,
            "dimension_mismatch",
            f"a vector of {len(vector)} numbers came, {dimension} were expected",
        )
    values = [float(value) for value in vector]
    if not all(map(math.isfinite, values)) or not any(values):
        raise EmbeddingError(FailureClass.MALFORMED, "no_direction", "a vector without direction")
    largest = max(map(abs, values))
    numbers = [round(value / largest * _MOST) for value in values]
    return struct.pack(f"<{dimension}b", *numbers) + _TAIL.pack(_length(numbers))


def unpack(packed: bytes) -> tuple[list[int], float]:
    """Return the numbers of a stored vector, and their length."""
    count = len(packed) - _TAIL.size
    return list(struct.unpack_from(f"<{count}b", packed)), _TAIL.unpack_from(packed, count)[0]


def cosines(query: bytes, stored: bytes) -> list[float]:
    """Return the cosine of a packed query with each of the packed vectors that stand in a row."""
    width = len(query)
    if width <= _TAIL.size or len(stored) % width:
        raise ValueError(f"{len(stored)} bytes are no row of vectors of {width} bytes")
    numpy = _numpy()
    if numpy is None:
        return _cosines_plain(query, stored)
    count = width - _TAIL.size
    numbers, length = unpack(query)
    asked = numpy.array(numbers, dtype="f4")
    rows = numpy.frombuffer(stored, dtype="u1").reshape(-1, width)
    products = numpy.empty(len(rows), dtype="f4")
    for place in range(0, len(rows), _AT_ONCE):
        some = rows[place : place + _AT_ONCE, :count]
        products[place : place + _AT_ONCE] = some.view("i1").astype("f4") @ asked
    lengths = rows[:, count:].copy().view("<f4").ravel()
    found: list[float] = (products / (lengths * length)).tolist()
    return found


def _cosines_plain(query: bytes, stored: bytes) -> list[float]:
    asked, asked_length = unpack(query)
    found: list[float] = []
    for place in range(0, len(stored), len(query)):
        numbers, length = unpack(stored[place : place + len(query)])
        found.append(sum(map(mul, asked, numbers)) / (asked_length * length))
    return found


def _length(numbers: list[int]) -> float:
    return math.sqrt(sum(map(mul, numbers, numbers)))


@lru_cache(maxsize=1)
def _numpy() -> Any:
    return import_module("numpy") if find_spec("numpy") else None
