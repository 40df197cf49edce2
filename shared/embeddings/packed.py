"""Vectors as they are stored, 16-bit floats of length one, and their comparison with a query.

numpy does it where it is installed; without it, plain Python does the same, slower.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from operator import mul
from typing import Any, Final

from shared.domain.jobs import FailureClass
from shared.embeddings.port import EmbeddingError, Vector

BYTES_A_NUMBER: Final = 2


def pack(vector: Vector, *, dimension: int) -> bytes:
    """Return a vector scaled to length one as little-endian 16-bit floats.

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
    norm = math.sqrt(sum(map(mul, values, values)))
    if not math.isfinite(norm) or norm <= 0.0:
        raise EmbeddingError(FailureClass.MALFORMED, "no_direction", "a vector without direction")
    return struct.pack(f"<{dimension}e", *(value / norm for value in values))


def unpack(packed: bytes) -> list[float]:
    """Return the numbers of a stored vector."""
    return list(struct.unpack(f"<{len(packed) // BYTES_A_NUMBER}e", packed))


def cosines(query: bytes, stored: bytes) -> list[float]:
    """Return the cosine of a packed query with each of the packed vectors that stand in a row."""
    width = len(query)
    if not width or len(stored) % width:
        raise ValueError(f"{len(stored)} bytes are no row of vectors of {width} bytes")
    numpy = _numpy()
    if numpy is not None:
        rows = numpy.frombuffer(stored, dtype="<f2").reshape(-1, width // BYTES_A_NUMBER)
        asked = numpy.frombuffer(query, dtype="<f2").astype("float32")
        found: list[float] = (rows.astype("float32") @ asked).tolist()
        return found
    return _cosines_plain(query, stored)


def _cosines_plain(query: bytes, stored: bytes) -> list[float]:
    asked = unpack(query)
    return [
        _dot(asked, unpack(stored[place : place + len(query)]))
        for place in range(0, len(stored), len(query))
    ]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(map(mul, left, right))


@lru_cache(maxsize=1)
def _numpy() -> Any:
    return import_module("numpy") if find_spec("numpy") else None
