from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from workers.evaluation.client import Refused
from workers.evaluation.curves import as_result, grow
from workers.evaluation.curves_generated import generated
from workers.evaluation.curves_presence import Kept, by_age, kept_evidence, shares, size_of

CONVERSATION = generated(4)
FACTS = [turn.messages[0].text for turn in CONVERSATION.turns]


def block(first: int, last: int, content: str, *, header: str = "[block]") -> dict[str, Any]:
    return {
        "turn_range": [first, last],
        "level": 5,
        "header": header,
        "content": content,
        "tokens": 7,
    }


def context(blocks: list[dict[str, Any]], tail: dict[int, str]) -> dict[str, Any]:
    cards = [
        {"message_id": f"m{turn}", "turn": turn, "role": "user", "content": text}
        for turn, text in tail.items()
    ]
    return {"blocks": blocks, "open_tail": cards, "activated": {"tokens": 5}}


def test_evidence_counts_verbatim_by_its_text_and_told_by_half_of_its_words() -> None:
    words = FACTS[1].split()
    half = " ".join(words[: len(words) * 3 // 4])
    shown = context(
        [block(1, 1, f"User: {FACTS[0]}"), block(2, 2, half), block(3, 3, "A title.")],
        {4: FACTS[3]},
    )
    kept = kept_evidence(shown, CONVERSATION, turns=4)
    assert [(one.verbatim_all, one.told_all, one.age) for one in kept] == [
        (True, True, 3),
        (False, True, 2),
        (False, False, 1),
        (True, True, 0),
    ]


def test_words_of_another_block_do_not_count() -> None:
    shown = context([block(1, 1, "A title."), block(2, 2, FACTS[0])], {})
    assert not kept_evidence(shown, CONVERSATION, turns=2)[0].told_any


def test_a_question_counts_from_when_its_evidence_has_been_said() -> None:
    shown = context([], {1: FACTS[0], 2: FACTS[1]})
    assert len(kept_evidence(shown, CONVERSATION, turns=2)) == 2


def test_a_context_is_sized_by_part_beside_the_whole_history() -> None:
    shown = context([block(1, 2, "x", header="1234")], {3: "abcd"})
    size = size_of(shown, CONVERSATION, turns=3)
    assert (size.blocks, size.headers, size.tail, size.background) == (7, 1, 3, 5)
    assert size.context == 16
    assert size.history > size_of(shown, CONVERSATION, turns=2).history > 50


def test_shares_are_told_by_class_of_age() -> None:
    kept = [
        Kept("a", 0, True, True, True, True),
        Kept("a", 11, False, True, False, True),
        Kept("b", 12, False, False, False, False),
        Kept("c", 9_999, False, False, True, True),
    ]
    rows = list(by_age(kept))
    assert [(row["from"], row["to"], row["questions"], row["times"]) for row in rows] == [
        (0, 11, 1, 2),
        (12, 23, 1, 1),
        (3072, None, 1, 1),
    ]
    assert (rows[0]["verbatim_all"], rows[0]["verbatim_any"]) == (0.5, 1.0)
    assert shares([])["told_all"] is None


def api(*, stored: int | None = None) -> httpx.Client:
    """An API that keeps every turn in the open tail."""
    posted: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/turns/batch"):
            turns = json.loads(request.content)
            posted.extend(turns)
            return httpx.Response(
                200, json={"items": [], "stored": len(turns) if stored is None else stored}
            )
        if request.url.path.endswith("/raw/search"):
            return httpx.Response(200, json={"pending": {"blocks": 0}})
        if request.url.path.endswith("/context"):
            said = {n: turn["messages"][0]["content"] for n, turn in enumerate(posted, start=1)}
            return httpx.Response(200, json=context([], said))
        return httpx.Response(200, json={})

    return httpx.Client(base_url="http://test", transport=httpx.MockTransport(answer))


def test_a_conversation_grows_from_point_to_point_up_to_its_last_turn() -> None:
    posted: list[int] = []
    curve = grow(api(), generated(250), namespace="n", points=2, on_turns=posted.append)
    assert posted == [100, 25, 100, 25]
    result = as_result([curve])
    [conversation] = result["conversations"]
    assert [point["turns"] for point in conversation["points"]] == [125, 250]
    assert conversation["points"][1]["answerable"]["verbatim_all"] == 1.0
    assert result["by_age"][0]["times"] == 24


def test_a_namespace_that_is_not_new_is_refused() -> None:
    with pytest.raises(Refused, match="not new"):
        grow(api(stored=0), CONVERSATION, namespace="n", points=1)
