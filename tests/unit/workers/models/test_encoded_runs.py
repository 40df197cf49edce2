from __future__ import annotations

import base64
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.turns import Message, Role
from workers.models.encoded_runs import shown_text, without_encoded_runs

FILE = base64.b64encode(bytes(range(256)) * 8).decode()


def test_stuck_05_an_encoded_file_becomes_its_size_and_digest() -> None:
    digest = sha256(FILE.encode()).hexdigest()[:16]
    assert shown_text(f"Here is the file: {FILE} (that was it)") == (
        f"Here is the file: [encoded data omitted: {len(FILE)} chars, sha256 {digest}; "
        "the whole text is in L5] (that was it)"
    )


@pytest.mark.parametrize("text", [FILE, FILE.lower(), bytes(range(256)).hex() * 2])
def test_base64_and_hex_are_seen(text: str) -> None:
    assert shown_text(text).startswith("[encoded data omitted:")


def test_lines_as_mail_breaks_them_are_one_file() -> None:
    broken = base64.encodebytes(bytes(range(256)) * 4).decode()
    assert shown_text(f"see:\n{broken}").count("[encoded data omitted:") == 1
    assert len(shown_text(f"see:\n{broken}")) < 150


@pytest.mark.parametrize(
    "text",
    [
        "a" * 3_000,
        "-" * 400,
        "no" + "o" * 500,
        "f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2",
    ],
)
def test_long_cries_rules_and_digests_are_left_alone(text: str) -> None:
    assert shown_text(text) == text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_what_people_write_is_never_changed(text: str) -> None:
    spaced = " ".join(text[at : at + 40] for at in range(0, len(text), 40))
    assert shown_text(spaced) == spaced


def test_messages_keep_their_ids_and_calls() -> None:
    said = Message("msg_1", Role.USER, f"File: {FILE}", tool_calls=({"name": "x"},))
    plain = Message("msg_2", Role.USER, "hello")
    shown = without_encoded_runs([said, plain])
    assert [(one.id, one.tool_calls) for one in shown] == [
        ("msg_1", ({"name": "x"},)),
        ("msg_2", ()),
    ]
    assert shown[1] is plain
    assert FILE not in shown[0].content
