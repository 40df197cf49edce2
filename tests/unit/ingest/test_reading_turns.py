from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.schemas.fields import parse_instant
from ingest.schemas.turns import TurnIn
from ingest.turns.content import plain_text
from ingest.turns.prepare import PreparedTurn, prepare_turn
from ingest.turns.trace import trace_of
from shared.domain.temporal.zones import local
from shared.errors import InvalidInput

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def prepared(**fields: Any) -> PreparedTurn:
    body = {"receipt_id": "r", "messages": [{"role": "user", "content": "Hello heater"}], **fields}
    return prepare_turn(TurnIn.model_validate(body), NOW)


@pytest.mark.parametrize(
    ("value", "zone", "expected", "shown"),
    [
        ("2026-05-05T10:00:00Z", None, "2026-05-05T10:00:00+00:00", "UTC"),
        ("2026-05-05t10:00:00z", None, "2026-05-05T10:00:00+00:00", "UTC"),
        ("2026-05-05T10:00:00+02:00", None, "2026-05-05T08:00:00+00:00", "+02:00"),
        ("2026-05-05 10:00-07:30", None, "2026-05-05T17:30:00+00:00", "-07:30"),
        ("2026-05-05T10:00:00.123456789Z", None, "2026-05-05T10:00:00.123456+00:00", "UTC"),
        ("2026-05-05T10:00:00", "Europe/Zurich", "2026-05-05T08:00:00+00:00", "Europe/Zurich"),
        ("2026-05-05T10:00:00Z", "Asia/Tokyo", "2026-05-05T10:00:00+00:00", "Asia/Tokyo"),
    ],
)
def test_an_instant_is_kept_in_utc_with_the_zone_it_was_given_in(
    value: str, zone: str | None, expected: str, shown: str
) -> None:
    moment, kept = parse_instant(value, zone, "/occurred_at")
    assert (moment.isoformat(), kept) == (expected, shown)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("2026-05-05T10:00:00", "naive_time"),
        ("2026-05-05", "invalid_time"),
        ("2026-02-30T10:00:00Z", "invalid_time"),
        ("2026-05-05T25:00:00Z", "invalid_time"),
        ("0001-01-01T00:00:00+14:00", "invalid_time"),
        ("0001-01-01T00:00:00Z", "invalid_time"),
        ("9999-12-31T23:59:59Z", "invalid_time"),
        ("20260505T100000Z", "invalid_time"),
        ("2026-W19-2T10:00:00Z", "invalid_time"),
        ("yesterday", "invalid_time"),
        ("", "invalid_time"),
    ],
)
def test_what_is_no_instant_is_refused_and_never_guessed(value: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_instant(value, None, "/occurred_at")
    assert (caught.value.code, caught.value.errors[0].pointer) == (code, "/occurred_at")


@given(st.text())
def test_any_text_is_an_instant_or_a_refusal(value: str) -> None:
    try:
        moment, _ = parse_instant(value, "UTC", "/occurred_at")
    except InvalidInput:
        return
    assert moment.tzinfo is UTC


@pytest.mark.parametrize("value", ["0001-01-02T00:00:00Z", "9999-12-30T23:59:59Z"])
@pytest.mark.parametrize("shown_in", ["+14:00", "-12:00", "Asia/Shanghai", "America/New_York"])
def test_what_is_taken_can_be_shown_on_the_clock_of_any_zone(value: str, shown_in: str) -> None:
    moment, _ = parse_instant(value, None, "/occurred_at")
    assert local(moment, shown_in) == moment


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        (" as it is ", " as it is "),
        (["a", {"type": "text", "text": "b"}], "a\n\nb"),
        ([{"type": "input_text", "text": "a"}, {"type": "refusal", "refusal": "no"}], "a\n\nno"),
        ([{"type": "image_url", "image_url": {"url": "x"}}], "[image]"),
        (
            [{"type": "file", "file": {"filename": "plan.pdf"}}],
            "[file: plan.pdf]",
        ),
        ([{"type": "input_audio", "input_audio": {"data": "…"}}], "[audio]"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}], "a"),
        ([{"type": "widget"}, {"data": 1}], "[widget]\n\n[part]"),
        ([{"type": "widget"}, {}, {"type": "text"}, {"type": None}], "[widget]"),
        ([{"type": "text", "text": None}, {"type": "input_text", "text": 7}], ""),
        ([], ""),
    ],
)
def test_content_parts_become_words(content: Any, text: str) -> None:
    assert plain_text(content) == text


@pytest.mark.parametrize(
    ("item", "trace"),
    [
        ({"name": "probe", "result": "ok"}, {"name": "probe", "result": "ok"}),
        (
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"id": "c", "name": "f", "arguments": {"a": 1}},
        ),
        ({"name": "f", "arguments": "not json"}, {"name": "f", "arguments": "not json"}),
        ({"name": "f", "arguments": "17"}, {"name": "f", "arguments": "17"}),
        (
            {"name": "f", "arguments": '{"a": "\\u0000"}'},
            {"name": "f", "arguments": '{"a": "\\u0000"}'},
        ),
        ({"name": "f", "arguments": "[" * 9000}, {"name": "f", "arguments": "[" * 9000}),
        ({"type": "function_call"}, {"type": "function_call", "unknown_kind": True}),
        ({"name": " "}, {"name": " ", "unknown_kind": True}),
        (None, {"raw": None, "unknown_kind": True}),
        (1, {"raw": 1, "unknown_kind": True}),
        ([], {"raw": [], "unknown_kind": True}),
    ],
)
def test_a_tool_call_becomes_a_trace_and_is_never_refused(item: Any, trace: dict[str, Any]) -> None:
    assert trace_of([item], None) == [trace]


@pytest.mark.parametrize(
    "content", [[{}], [{"type": "text"}], [{"type": "text", "text": " "}], "\u200b\u2060", []]
)
@pytest.mark.parametrize("tool_calls", [[None], [1], None])
def test_a_turn_in_which_a_person_shows_nothing_is_refused(content: Any, tool_calls: Any) -> None:
    messages = [
        {"role": "user", "content": content, "tool_calls": tool_calls},
        {"role": "assistant", "content": "Hello."},
    ]
    with pytest.raises(InvalidInput) as caught:
        prepared(messages=messages)
    assert (caught.value.code, caught.value.errors[0].pointer) == ("no_human_message", "/messages")


@pytest.mark.parametrize("item", [None, 1])
def test_an_odd_tool_call_costs_no_turn(item: Any) -> None:
    """Case lost-14."""
    message = {"role": "user", "content": "Hello heater", "tool_calls": [item]}
    (kept,) = prepared(messages=[message]).messages
    assert kept.message.tool_calls == ({"raw": item, "unknown_kind": True},)


def test_a_turn_without_a_time_is_stamped_with_its_arrival() -> None:
    turn = prepared(timezone="Europe/Zurich")
    assert (turn.occurred_at, turn.zone, turn.time_basis) == (NOW, "Europe/Zurich", "received")
    assert turn.messages[0].message.occurred_at == NOW


def test_a_message_may_have_its_own_time() -> None:
    message = {"role": "user", "content": "Hi", "occurred_at": "2026-01-01T00:00:00Z"}
    turn = prepared(messages=[message], occurred_at="2026-01-01T00:05:00Z")
    assert turn.messages[0].message.occurred_at == datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(InvalidInput) as caught:
        prepared(messages=[{**message, "occurred_at": "2026-01-01T00:00:00"}])
    assert caught.value.errors[0].pointer == "/messages/0/occurred_at"


def test_the_hash_is_of_what_was_sent_not_of_when_or_how_it_is_kept() -> None:
    first, second = prepared(), prepared()
    assert first.turn_id != second.turn_id
    assert first.request_hash == second.request_hash == prepared(thread_id=None).request_hash
    assert first.request_hash != prepared(thread_id="t").request_hash
    assert first.request_hash != prepared(metadata={"a": 1}).request_hash


def test_secrets_that_redaction_makes_equal_are_still_told_apart_by_the_hash() -> None:
    tokens = ["ghp_" + letter * 20 for letter in "ab"]
    turns = [prepared(messages=[{"role": "user", "content": f"key {t}"}]) for t in tokens]
    assert turns[0].messages[0].redacted.content == turns[1].messages[0].redacted.content
    assert turns[0].request_hash != turns[1].request_hash


def test_memory_put_into_a_message_does_not_find_itself() -> None:
    content = "Hello <memory-context>the heater broke</memory-context> again"
    turn = prepared(
        messages=[
            {"role": "user", "content": content},
            {"role": "user", "content": "the heater", "origin": "injected"},
        ]
    )
    assert "heater" not in turn.messages[0].frequencies
    assert turn.messages[1].frequencies == {}
    assert turn.messages[0].message.content == content
