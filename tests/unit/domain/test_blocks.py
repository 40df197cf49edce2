from __future__ import annotations

from typing import Any

import pytest

from shared.domain.blocks import (
    InvalidSummary,
    Summary,
    block_header,
    render_summary,
    validate_summary,
)

REPLY: dict[str, Any] = {
    "title": " Fence  wood chosen ",
    "tags": ["fence", " ", "fence", 7, "garden"],
    "summary": "Ann chose larch.",
    "keypoints": ["Larch, decided on Friday.", ""],
    "should_extract": True,
}


def test_a_good_reply_is_trimmed_bounded_and_kept() -> None:
    assert validate_summary(REPLY, has_content=True) == Summary(
        title="Fence wood chosen",
        tags=("fence", "garden"),
        summary="Ann chose larch.",
        keypoints=("Larch, decided on Friday.",),
        should_extract=True,
    )


def test_overlong_parts_are_cut_to_their_limits() -> None:
    made = validate_summary(
        REPLY
        | {
            "title": "t" * 300,
            "summary": "s" * 5000,
            "tags": [f"tag {n}" for n in range(40)],
            "keypoints": [f"point {n}" for n in range(40)],
        },
        has_content=True,
    )
    assert (len(made.title), len(made.summary)) == (120, 2000)
    assert (len(made.tags), len(made.keypoints)) == (12, 20)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"title": "  "}, "title"),
        ({"title": None}, "title"),
        ({"title": "N/A"}, "title"),
        ({"summary": "..."}, "summary"),
        ({"summary": ["x"]}, "summary"),
        ({"tags": "fence"}, "tags"),
        ({"keypoints": None}, "keypoints"),
        ({"keypoints": []}, "keypoints"),
        ({"keypoints": ["", "n/a", 3]}, "keypoints"),
        ({"should_extract": "true"}, "should_extract"),
        ({"should_extract": 1}, "should_extract"),
    ],
)
def test_a_reply_that_says_nothing_is_refused_with_its_reason(
    change: dict[str, Any], named: str
) -> None:
    with pytest.raises(InvalidSummary) as refused:
        validate_summary(REPLY | change, has_content=True)
    assert [reason.split(":")[0] for reason in refused.value.reasons] == [named]


def test_every_reason_is_told_at_once() -> None:
    with pytest.raises(InvalidSummary) as refused:
        validate_summary({}, has_content=True)
    named = {reason.split(":")[0] for reason in refused.value.reasons}
    assert named == {"title", "summary", "tags", "keypoints", "should_extract"}


def test_a_block_without_content_needs_no_key_point() -> None:
    made = validate_summary(REPLY | {"keypoints": [], "should_extract": False}, has_content=False)
    assert made.keypoints == ()
    assert render_summary(made, 2) == made.summary


def test_levels_read_as_title_narrative_and_points() -> None:
    made = validate_summary(REPLY, has_content=True)
    assert render_summary(made, 0) == "Fence wood chosen\nTags: fence, garden"
    assert render_summary(made, 1) == "Ann chose larch."
    assert render_summary(made, 2) == "- Larch, decided on Friday."
    bare = Summary("T", (), "S", (), should_extract=False)
    assert render_summary(bare, 0) == "T\nTags: none"


def test_deeper_levels_are_not_the_summary_s_to_render() -> None:
    with pytest.raises(ValueError, match="level 3"):
        render_summary(validate_summary(REPLY, has_content=True), 3)


def test_a_header_names_block_turns_and_level() -> None:
    header = block_header("blk_1", 3, first_turn=13, last_turn=24)
    assert header == "Block: blk_1 | Turns: 13-24 | Level: L3"
