from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.turns import Message, Role
from workers.models.rules.sentences import MAX_SENTENCE, image_captions, sentences_of


def _texts(content: str) -> list[str]:
    return [one.text for one in sentences_of(Message("m1", Role.USER, content))]


@pytest.mark.parametrize(
    ("content", "sentences"),
    [
        (
            "Dr. Weber came at 9.30 a.m. today. He left.",
            ["Dr. Weber came at 9.30 a.m. today.", "He left."],
        ),
        ("We ship Orion 1.0 on Friday! Really?", ["We ship Orion 1.0 on Friday!", "Really?"]),
        ("会议室在三楼。我吃素！你呢？", ["会议室在三楼。", "我吃素！", "你呢？"]),
        ("I visited two; on Friday it stormed.", ["I visited two", "on Friday it stormed."]),
        ("- first point\n2) second point", ["first point", "second point"]),
        ("Before\n```\ncode. More code.\n```\nafter", ["Before", "after"]),
        ("I painted this. [image: a lake. At dawn]", ["I painted this."]),
    ],
)
def test_sentences_end_where_they_do(content: str, sentences: list[str]) -> None:
    assert _texts(content) == sentences


@given(st.text(alphabet="ab .。!?\n;-我", max_size=300) | st.text(max_size=2000))
def test_each_is_verbatim_at_its_place_and_none_is_endless(content: str) -> None:
    message = Message("m1", Role.USER, content)
    previous = 0
    for one in sentences_of(message):
        assert one.text == content[one.start : one.end]
        assert previous <= one.start < one.end <= len(content)
        assert len(one.text) <= MAX_SENTENCE
        previous = one.end


def test_a_wall_of_text_is_read_to_its_end() -> None:
    words = [f"word{i}" for i in range(400)]
    assert " ".join(_texts(" ".join(words))).split() == words


def test_captions_are_those_of_the_image_marks() -> None:
    message = Message("m1", Role.USER, "Look! [image: a lake] and [image:  a hut ]")
    assert image_captions(message) == ("a lake", "a hut")
