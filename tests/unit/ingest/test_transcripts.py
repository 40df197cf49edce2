from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.schemas.turns import TurnIn
from ingest.transcripts import Destination, group_turns, read_transcript
from shared.errors import InvalidInput

HERE = Destination("project:bridge", "t")


def said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


CHAT = [
    said("system", "Be brief."),
    said("user", "Hello"),
    said("user", "Are you there?"),
    said("assistant", "Yes."),
    said("user", "Good."),
    said("assistant", "Indeed."),
    said("tool", "42"),
]


def test_a_turn_begins_at_a_user_message_that_follows_another_role() -> None:
    sizes = [[m["role"] for m in group] for group in group_turns(CHAT)]
    assert sizes == [["system", "user", "user", "assistant"], ["user", "assistant", "tool"]]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CHAT),
        json.dumps({"messages": CHAT}),
        "\n".join(json.dumps(message) for message in CHAT),
        json.dumps({"messages": CHAT}) + "\n\n",
    ],
)
def test_every_form_of_chat_gives_the_same_turns(text: str) -> None:
    turns = read_transcript(text, HERE)
    assert [turn.body["messages"] for turn in turns] == group_turns(CHAT)
    assert [turn.ends_session for turn in turns] == [False, True]
    assert {(turn.namespace, turn.thread_id) for turn in turns} == {("project:bridge", "t")}
    assert turns == read_transcript(json.dumps(CHAT), HERE)


def test_receipts_are_stable_and_differ_even_where_words_repeat() -> None:
    repeated = [said("user", "Hi"), said("assistant", "Hi")] * 3
    receipts = [t.body["receipt_id"] for t in read_transcript(json.dumps(repeated), HERE)]
    again = [t.body["receipt_id"] for t in read_transcript(json.dumps(repeated), HERE)]
    assert receipts == again
    assert len(set(receipts)) == 3
    longer = read_transcript(json.dumps([*repeated, said("user", "Bye")]), HERE)
    assert [t.body["receipt_id"] for t in longer][:3] == receipts


def test_every_body_is_one_that_the_api_takes() -> None:
    for turn in [*read_transcript(json.dumps(CHAT), HERE), *locomo()]:
        TurnIn.model_validate(turn.body)


def test_conversations_of_a_file_may_name_their_thread() -> None:
    lines = [json.dumps({"messages": CHAT[1:4], "thread_id": name}) for name in ("a", "b")]
    assert [t.thread_id for t in read_transcript("\n".join(lines), HERE)] == ["a", "b"]


@pytest.mark.parametrize(
    "text", ["", "not json", "{}", "[]", '[{"text": "x"}]', "17", '[{"role": 1}]']
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_transcript(text, HERE)


def line(speaker: str, number: str, **more: str) -> dict[str, str]:
    return {"speaker": speaker, "dia_id": number, "text": f"Words {number}.", **more}


SAMPLE = {
    "sample_id": "conv-1",
    "qa": [],
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_2_date_time": "12:05 am on 1 March, 2023",
        "session_2": [line("Ben", "D2:1"), line("Ada", "D2:2"), line("Ben", "D2:3")],
        "session_1_date_time": "4:04 pm on 20 January, 2023",
        "session_1": [
            line("Ada", "D1:1"),
            line("Ada", "D1:2"),
            line("Ben", "D1:3", blip_caption="a red kite"),
            line("Ada", "D1:4"),
        ],
        "session_3": [],
    },
}


def locomo() -> list[Any]:
    return read_transcript(json.dumps([SAMPLE]), HERE)


def test_locomo_turns_open_with_a_session_and_where_a_follows_b() -> None:
    ids = [[m["metadata"]["dia_id"] for m in turn.body["messages"]] for turn in locomo()]
    assert ids == [["D1:1", "D1:2", "D1:3"], ["D1:4"], ["D2:1"], ["D2:2", "D2:3"]]
    assert [turn.ends_session for turn in locomo()] == [False, True, False, True]


def test_locomo_has_its_own_namespace_thread_times_and_names() -> None:
    first, *_, last = locomo()
    assert (first.namespace, first.thread_id) == ("conv-1", "main")
    assert first.body["occurred_at"] == "2023-01-20T16:04:00+00:00"
    assert last.body["occurred_at"] == "2023-03-01T00:05:00+00:00"
    message = first.body["messages"][2]
    assert message["content"] == "Words D1:3. [image: a red kite]"
    assert (message["role"], message["name"]) == ("assistant", "Ben")


def test_a_leading_speaker_b_stands_for_the_human_side() -> None:
    roles = [[m["role"] for m in turn.body["messages"]] for turn in locomo()]
    assert roles[2:] == [["user"], ["user", "assistant"]]


def test_a_locomo_session_without_a_date_is_refused() -> None:
    conversation = {**SAMPLE["conversation"], "session_1_date_time": "some day"}  # type: ignore[dict-item] # the sample's own shape
    with pytest.raises(InvalidInput, match="session 1"):
        read_transcript(json.dumps({**SAMPLE, "conversation": conversation}), HERE)
