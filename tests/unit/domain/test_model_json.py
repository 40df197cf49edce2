import json

import pytest

from shared.domain.model_json import (
    MalformedReply,
    TruncatedReply,
    UnreadableReply,
    read_object,
    read_value,
)

REPLY = {"shouldExtract": True, "reason": "durable", "events": [{"title": "a } b { c"}]}
TEXT = json.dumps(REPLY)
KEYS = ("shouldExtract", "events")


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "\ufeff" + TEXT,
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}```",
        f"  {TEXT}\n\n",
        f"Here it is:\n```json\n{TEXT}\n```\nAnything else?",
        f"<think>{{}} is too little</think>\n{TEXT}",
        f"<reasoning>a\nb</reasoning>```json\n{TEXT}\n```",
        f'{{"shouldExtract": false, "events": []}} was my draft</think>{TEXT}',
    ],
)
def test_one_object_is_read_whatever_surrounds_it(text: str) -> None:
    assert read_object(text, required_keys=KEYS) == REPLY


def test_json_02_braces_in_prose_do_not_confuse() -> None:
    text = f"Sure! Here is what I found {{as asked}}:\n{TEXT}\nLet me know about {{details}}."
    assert read_object(text, required_keys=KEYS) == REPLY


def test_json_03_the_draft_in_a_think_block_never_wins() -> None:
    draft = '{"shouldExtract":false,"reason":"draft","events":[]}'
    assert read_object(f"<think>{draft}</think>{TEXT}", required_keys=KEYS) == REPLY


def test_an_object_after_prose_is_the_last_one_meant() -> None:
    assert read_object('First {"a": 1}, better: {"a": 2}') == {"a": 2}


def test_of_several_objects_with_the_asked_keys_the_first_is_meant() -> None:
    text = f'{TEXT} Or, if you prefer nothing: {{"shouldExtract": false, "events": []}}'
    assert read_object(text, required_keys=("shouldExtract", "events")) == REPLY


def test_objects_without_the_asked_keys_are_passed_over() -> None:
    text = f'Schema {{"type": "object"}} so: {TEXT} with {{"note": 1}} at the end'
    assert read_object(text, required_keys=KEYS) == REPLY


def test_snake_case_keys_count_as_asked_for() -> None:
    text = 'x {"should_extract": true, "events": []} y {"z": 1}'
    assert read_object(text, required_keys=KEYS) == {"should_extract": True, "events": []}


def test_tags_inside_a_string_are_text() -> None:
    reply = {"title": "the <think> tag and </think> too"}
    assert read_object("Reply: " + json.dumps(reply) + " done") == reply


@pytest.mark.parametrize("gap", ["", " ", "\n", ", "])
def test_adjacent_objects_are_malformed(gap: str) -> None:
    with pytest.raises(MalformedReply, match="next to each other"):
        read_object('{"a": 1}' + gap + '{"a": 2}')


@pytest.mark.parametrize(
    "text",
    [
        '{"action":"ADD","action":"SUPERSEDE","existingEventIds":["evt_a"],"reason":"x"}',
        '{"a": {"b": 1, "b": 2}}',
        '{"confidence": NaN}',
        '{"confidence": -Infinity}',
        '{"confidence": 1e999}',
        '{"a": 1,}',
        '{"a" "b"}',
        "[1, 2]",
        "null",
        "5",
        "",
        "no JSON at all",
        "{'single': 'quotes'}",
    ],
)
def test_json_06_what_is_not_clean_json_is_malformed(text: str) -> None:
    with pytest.raises(MalformedReply):
        read_object(text)


@pytest.mark.parametrize("cut", range(1, len(TEXT)))
def test_every_cut_of_a_reply_is_truncated_and_never_a_smaller_object(cut: int) -> None:
    with pytest.raises(TruncatedReply):
        read_object(TEXT[:cut], required_keys=KEYS)


def test_a_cut_inside_reasoning_is_truncated() -> None:
    with pytest.raises(TruncatedReply):
        read_object('<think>so {"shouldExtract": true, "events": []} or')


def test_the_providers_word_for_a_cut_is_believed() -> None:
    with pytest.raises(TruncatedReply):
        read_object("Let me think about", finish_reason="length")
    assert read_object(f"{TEXT} And further I", finish_reason="length") == REPLY


def test_a_cut_final_answer_is_not_replaced_by_the_draft_before_it() -> None:
    with pytest.raises(TruncatedReply):
        read_object('{"a": 1} but rather {"a": 2, "b')


def test_deep_nesting_is_malformed_not_a_crash() -> None:
    with pytest.raises(UnreadableReply):
        read_object('{"a":' * 100_000 + "1" + "}" * 100_000)


def test_huge_integers_are_malformed_not_a_crash() -> None:
    with pytest.raises(MalformedReply):
        read_object('{"a": ' + "9" * 10_000 + "}")


def test_the_problems_of_a_malformed_reply_can_be_told_to_the_model() -> None:
    with pytest.raises(MalformedReply) as caught:
        read_object('{"a": 1, "a": 2}')
    assert "duplicate key 'a'" in caught.value.problems[0]


def test_a_whole_value_may_be_a_list() -> None:
    assert read_value("```json\n[1]\n```") == [1]
    assert read_value("say [1]") is None
