"""Labelled conversations are read from LoCoMo's JSON and from lines, and refused by place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.errors import InvalidInput
from workers.evaluation.questions import UNCATEGORISED, load_questions

TALK: dict[str, Any] = {
    "id": "ana-ben",
    "messages": [
        {
            "id": "m1",
            "role": "user",
            "name": "Ana",
            "content": "I adopted a cat.",
            "occurred_at": "2026-03-01T09:30:00+08:00",
        },
        {"id": "m2", "role": "assistant", "content": "What is its name?"},
        {
            "id": "m3",
            "role": "user",
            "content": "它叫小白。",
            "occurred_at": "2026-03-02T09:00:00+08:00",
        },
    ],
}
ASKED: dict[str, Any] = {
    "question": "小白是谁？",
    "answer": "Ana 的猫",
    "category": "one hop",
    "evidence": ["m3"],
}


def lines(folder: Path, *records: Any) -> Path:
    path = folder / "set.jsonl"
    path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in records), "utf-8")
    return path


def test_lines_become_conversations_with_turns_sessions_and_questions(tmp_path: Path) -> None:
    found = load_questions(lines(tmp_path, TALK, ASKED, {"question": "Why?", "answerable": False}))
    (talk,) = found.conversations
    assert [m.id for m in talk.messages] == ["m1", "m2", "m3"]
    assert [[m.id for m in turn.messages] for turn in talk.turns] == [["m1", "m2"], ["m3"]]
    assert [turn.ends_session for turn in talk.turns] == [True, True]
    assert [m.session for m in talk.messages] == ["1", "1", "2"]
    assert talk.turns[1].body["messages"][0]["metadata"] == {"dia_id": "m3"}
    first, second = talk.questions
    assert (first.id, first.text, first.answer) == ("ana-ben/q0", "小白是谁？", "Ana 的猫")
    assert (first.category, first.evidence, first.answerable) == (
        "one hop",
        frozenset({"m3"}),
        True,
    )
    assert (second.category, second.answer, second.answerable) == (UNCATEGORISED, None, False)
    assert second.evidence == frozenset()


def test_a_question_may_stand_above_its_conversation_when_it_names_it(tmp_path: Path) -> None:
    found = load_questions(lines(tmp_path, {**ASKED, "conversation": "ana-ben"}, TALK))
    assert [question.text for _, question in found.asked()] == [ASKED["question"]]


def test_two_people_without_roles_are_told_apart_by_who_speaks_first(tmp_path: Path) -> None:
    said = [
        {"id": str(n), "name": name, "content": "x", "occurred_at": "2026-03-01T09:30:00Z"}
        for n, name in enumerate(("Ana", "Ben", "Ben", "Ana"))
    ]
    (talk,) = load_questions(lines(tmp_path, {"id": "c", "messages": said})).conversations
    assert [m.role for m in talk.messages] == ["user", "assistant", "assistant", "user"]
    assert [len(turn.messages) for turn in talk.turns] == [3, 1]


def changed(place: int, **fields: Any) -> dict[str, Any]:
    messages = [dict(message) for message in TALK["messages"]]
    messages[place].update(fields)
    return {**TALK, "messages": messages}


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([TALK, {**ASKED, "evidence": ["m9"]}], "line 2: `evidence`: 'm9' is no message"),
        ([TALK, {**ASKED, "evidence": "m3"}], "line 2: `evidence`: a list"),
        ([TALK, {**ASKED, "evidnce": []}], "line 2: `evidnce`: no such field"),
        ([TALK, {**ASKED, "question": " "}], "line 2: `question`: needed"),
        ([TALK, {**ASKED, "answerable": "no"}], "line 2: `answerable`: true or false"),
        ([TALK, {**ASKED, "conversation": "other"}], "line 2: `conversation`: no line holds"),
        ([TALK, TALK], "line 2: `id`: the conversation 'ana-ben' stands in an earlier line"),
        ([TALK, {"answer": "x"}], "line 2: `messages`: a line has"),
        ([{**TALK, "id": "a b"}], "line 1: `id`: needed"),
        ([{**TALK, "messages": []}], "line 1: `messages`: needed"),
        ([changed(1, role="bot")], "line 1: `messages[1].role`: one of user"),
        ([changed(0, occurred_at="2026-03-01T09:30:00")], "`messages[0].occurred_at`: the time"),
        ([changed(0, occurred_at=None)], "`messages[0].occurred_at`: needed"),
        ([changed(2, role="assistant")], "a user message is missing in session 2"),
        ([changed(2, id="m1")], "two messages have the same `id`"),
        ([[1]], "line 1: not a JSON object"),
        ([ASKED], "line 1: `conversation`: no line holds a conversation ''"),
        ([TALK, {**ASKED, "id": "q"}, {**ASKED, "id": "q"}], "'q' stands there twice"),
    ],
)
def test_a_bad_line_is_named_with_its_field(tmp_path: Path, records: list[Any], told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_questions(lines(tmp_path, *records))
    assert told in refused.value.detail
    assert "set.jsonl" in refused.value.detail


LOCOMO: dict[str, Any] = {
    "sample_id": "pair-1",
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "4:04 pm on 20 January, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I have 3 dogs."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice.", "blip_caption": "a dog"},
        ],
    },
    "qa": [
        {"question": "How many?", "answer": 3, "category": 1, "evidence": ["D1:1"]},
        {"question": "Whose cat?", "adversarial_answer": "Ben's", "category": 5, "evidence": []},
    ],
}


def test_locomo_is_read_with_answers_and_without_evidence(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(json.dumps([LOCOMO]), "utf-8")
    (talk,) = load_questions(path).conversations
    assert [(m.id, m.text) for m in talk.messages] == [
        ("D1:1", "I have 3 dogs."),
        ("D1:2", "Nice. [image: a dog]"),
    ]
    first, second = talk.questions
    assert (first.id, first.answer, first.category) == ("pair-1/q0", "3", "1")
    assert (first.evidence, first.answerable) == (frozenset({"D1:1"}), True)
    assert (second.answer, second.wrong_answer, second.answerable) == (None, "Ben's", False)
    assert load_questions(tmp_path).conversations == [talk]


@pytest.mark.parametrize(
    ("qa", "told"),
    [
        ([{"category": 1}], "pair-1, qa[0]: `question` is missing"),
        ([{"question": "Q", "category": "x"}], "qa[0]: `category` is missing or no number"),
        ([{"question": "Q", "category": 1, "evidence": [1]}], "qa[0]: `evidence` is no list"),
        (["Q"], "qa[0]: not an object"),
    ],
)
def test_a_bad_locomo_question_is_named(tmp_path: Path, qa: list[Any], told: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([{**LOCOMO, "qa": qa}]), "utf-8")
    with pytest.raises(InvalidInput) as refused:
        load_questions(path)
    assert told in refused.value.detail


@pytest.mark.parametrize(("content", "told"), [("{", "not JSON"), ("{}", "no LoCoMo"), ("", "not")])
def test_another_file_is_refused(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InvalidInput) as refused:
        load_questions(path)
    assert told in refused.value.detail


def test_a_missing_path_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        load_questions(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match="neither a LoCoMo file"):
        load_questions(tmp_path)
