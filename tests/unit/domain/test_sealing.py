import pytest

from shared.domain.sealing import Seal, plan_seals
from shared.errors import InvalidInput


@pytest.mark.parametrize(
    ("open_turns", "size", "seals"),
    [
        (0, 12, ()),
        (11, 12, ()),
        (12, 12, (Seal(8, 19),)),
        (13, 12, (Seal(8, 19),)),
        (7, 2, (Seal(8, 9), Seal(10, 11), Seal(12, 13))),
        (3, 1, (Seal(8, 8), Seal(9, 9), Seal(10, 10))),
    ],
)
def test_the_tail_is_sealed_until_it_is_shorter_than_the_size(
    open_turns: int, size: int, seals: tuple[Seal, ...]
) -> None:
    assert plan_seals(open_turns, sealed_turns=7, block_turn_size=size) == seals


@pytest.mark.parametrize("size", [0, -1])
def test_a_block_holds_at_least_one_turn(size: int) -> None:
    with pytest.raises(InvalidInput):
        plan_seals(3, sealed_turns=0, block_turn_size=size)
