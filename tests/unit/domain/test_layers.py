from __future__ import annotations

import string
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.budget import estimate_tokens
from shared.domain.layers import REPEATED_PASTE, render_l5, render_layers
from shared.domain.spacing import trim
from shared.domain.turns import Message, Role

PASTE = "The deployment pipeline runs in four stages and waits for ten healthy minutes each time."


def said(role: str, content: str, *calls: dict[str, Any]) -> Message:
    return Message(id="msg_1", role=Role(role), content=content, tool_calls=calls)


CONTENTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=string.ascii_letters + " \n`!?。{};=\t", max_size=200),
    st.sampled_from(
        ["ok", "好的。", PASTE, "```\na\n```", "let a\nlet b", '{"tool":"x","result":"y"}', ""]
    ),
)
CALLS = st.lists(
    st.dictionaries(st.sampled_from(["name", "arguments", "result", "type"]), st.text()),
    max_size=2,
)
MESSAGES = st.lists(
    st.builds(
        lambda role, content, calls: said(role, content, *calls),
        st.sampled_from([role.value for role in Role]),
        CONTENTS,
        CALLS,
    ),
    max_size=6,
)


@given(MESSAGES)
def test_a_lower_level_never_costs_more_than_the_one_above(messages: list[Message]) -> None:
    layers = render_layers(messages)
    l3, l4, l5 = (estimate_tokens(text) for text in (layers.l3, layers.l4, layers.l5))
    assert l3 <= l4 <= l5
    assert (layers.tokens["l3"], layers.tokens["l4"], layers.tokens["l5"]) == (l3, l4, l5)


@given(MESSAGES)
def test_l4_never_loses_what_a_person_said(messages: list[Message]) -> None:
    l4 = render_layers(messages).l4
    for message in messages:
        if message.role is Role.USER:
            assert trim(message.content) in l4


@given(MESSAGES)
def test_l5_holds_every_message_untrimmed(messages: list[Message]) -> None:
    l5 = render_l5(messages)
    for message in messages:
        assert f"{message.role.value}: {message.content}" in l5


def test_a_repeated_paste_is_shown_once_across_messages_whatever_its_case() -> None:
    layers = render_layers([said("user", PASTE), said("assistant", PASTE.upper())])
    assert layers.l3 == f"User: {PASTE}\n\nAssistant: {REPEATED_PASTE}"
    assert PASTE.upper() in layers.l4


def test_eighty_characters_make_a_paste_and_one_less_does_not() -> None:
    """Section 3: the length is that of the paragraph with its spaces folded."""
    eighty = "word  " * 15 + "words"
    assert len(" ".join(eighty.split())) == 80
    pasted = render_layers([said("user", eighty), said("assistant", eighty)])
    assert pasted.l3 == f"User: {eighty}\n\nAssistant: {REPEATED_PASTE}"
    shorter = eighty[:-1]
    told = render_layers([said("user", shorter), said("assistant", shorter)])
    assert told.l3 == f"User: {shorter}\n\nAssistant: {shorter}"


def test_a_message_of_fillers_disappears_from_l3_and_stays_in_l4() -> None:
    layers = render_layers([said("user", "thanks!"), said("assistant", "Port 80 is open.")])
    assert layers.l3 == "Assistant: Port 80 is open."
    assert layers.l4.startswith("User: thanks!")


def test_prose_about_tool_calls_stays_in_every_level() -> None:
    """D6: a marker word in a sentence is no payload."""
    text = "Explain what a tool_call is in the API."
    layers = render_layers([said("user", text)])
    assert layers.l3 == layers.l4 == f"User: {text}"


def test_case_lost_14_a_malformed_tool_item_is_kept_raw_and_marked() -> None:
    good = {"name": "probe", "arguments": {"sensor": "north"}, "result": "ok"}
    malformed = {"type": "function_call", "arguments": None}
    layers = render_layers(
        [
            said("user", "Check whether the north sensor answers."),
            said("assistant", "It answers.", good, malformed),
        ]
    )
    assert 'Tool call (raw): {"type":"function_call","arguments":null}' in layers.l5
    for text in (layers.l3, layers.l4):
        assert "Tool call: probe (ok)" in text
        assert "Tool call: unknown_kind" in text
        assert "Check whether the north sensor answers." in text


def test_a_level_that_would_be_longer_falls_back_to_the_one_above() -> None:
    layers = render_layers([said("tool", '"arguments": oops')])
    assert layers.l4_fell_back_to_l5
    assert layers.l4 == layers.l5
