from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.embeddings import packed
from shared.embeddings.port import EmbeddingError

_NUMBERS = st.floats(-1e3, 1e3, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-2)
_VECTORS = st.lists(_NUMBERS, min_size=8, max_size=8).filter(any)


@given(vector=_VECTORS)
def test_a_packed_vector_keeps_its_direction(vector: list[float]) -> None:
    numbers, length = packed.unpack(packed.pack(vector, dimension=8))
    largest = max(map(abs, vector))
    assert length == pytest.approx(math.sqrt(sum(x * x for x in numbers)))
    assert numbers == pytest.approx([127 * x / largest for x in vector], abs=0.51)


@given(left=_VECTORS, right=_VECTORS)
def test_a_cosine_is_right_to_a_hundredth(left: list[float], right: list[float]) -> None:
    norms = math.sqrt(sum(x * x for x in left)) * math.sqrt(sum(x * x for x in right))
    exact = sum(x * y for x, y in zip(left, right, strict=True)) / norms
    asked, stored = (packed.pack(vector, dimension=8) for vector in (left, right))
    assert packed._cosines_plain(asked, stored)[0] == pytest.approx(exact, abs=0.015)


@settings(deadline=None)  # the first comparison loads numpy, where it is installed
@given(vectors=st.lists(_VECTORS, min_size=1, max_size=5), query=_VECTORS)
def test_plain_python_compares_as_numpy_does(
    vectors: list[list[float]], query: list[float]
) -> None:
    rows = b"".join(packed.pack(v, dimension=8) for v in vectors)
    asked = packed.pack(query, dimension=8)
    plain = packed._cosines_plain(asked, rows)
    assert len(plain) == len(vectors)
    assert packed.cosines(asked, rows) == pytest.approx(plain, abs=1e-3)


@pytest.mark.parametrize(
    ("vector", "code"),
    [
        ([0.0] * 4, "no_direction"),
        ([math.nan, 1, 1, 1], "no_direction"),
        ([math.inf, 1, 1, 1], "no_direction"),
        ([1.0], "dimension_mismatch"),
    ],
)
def test_what_has_no_direction_or_another_length_is_no_vector(
    vector: list[float], code: str
) -> None:
    with pytest.raises(EmbeddingError) as raised:
        packed.pack(vector, dimension=4)
    assert raised.value.code == code


def test_bytes_that_are_no_row_of_vectors_are_refused() -> None:
    with pytest.raises(ValueError, match="no row of vectors"):
        packed.cosines(packed.pack([1.0, 0.0], dimension=2), b"abcde")


@pytest.mark.parametrize("rows", [0, 511, 512, 513, 1_300])
def test_many_vectors_are_compared_as_one_by_one(rows: int) -> None:
    stored = [packed.pack([math.sin(n + i) for i in range(8)], dimension=8) for n in range(rows)]
    asked = packed.pack([math.cos(i) for i in range(8)], dimension=8)
    found = packed.cosines(asked, b"".join(stored))
    assert found == pytest.approx(packed._cosines_plain(asked, b"".join(stored)), abs=1e-5)
    assert found == [packed.cosines(asked, one)[0] for one in stored]
