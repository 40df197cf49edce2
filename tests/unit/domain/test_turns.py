from __future__ import annotations

import pytest

from shared.domain.turns import Message, Origin, Role, has_human_message, is_human


def said(role: Role, content: str = "Paint the fence.", origin: Origin | None = None) -> Message:
    return Message(id="msg_1", role=role, content=content, origin=origin)


@pytest.mark.parametrize("origin", [None, Origin.HUMAN])
def test_a_user_message_is_a_persons_unless_a_host_says_otherwise(origin: Origin | None) -> None:
    assert is_human(said(Role.USER, origin=origin))


@pytest.mark.parametrize("origin", [Origin.MODEL, Origin.TOOL, Origin.INJECTED])
def test_injected_and_made_content_in_the_users_place_is_not_a_persons(origin: Origin) -> None:
    assert not is_human(said(Role.USER, origin=origin))


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SYSTEM])
@pytest.mark.parametrize("origin", [None, *Origin])
def test_no_other_role_is_a_person_whatever_its_origin(role: Role, origin: Origin | None) -> None:
    assert not is_human(said(role, origin=origin))


def test_one_human_message_anywhere_makes_a_turn() -> None:
    """D2: a turn need not open with its person."""
    turn = (said(Role.SYSTEM), said(Role.ASSISTANT), said(Role.USER), said(Role.TOOL))
    assert has_human_message(turn)


@pytest.mark.parametrize(
    "turn",
    [
        (),
        (said(Role.ASSISTANT), said(Role.TOOL), said(Role.SYSTEM)),
        (said(Role.USER, origin=Origin.INJECTED), said(Role.ASSISTANT)),
        (said(Role.USER, ""), said(Role.USER, " \n\t\u3000"), said(Role.ASSISTANT)),
        (said(Role.USER, ""), said(Role.ASSISTANT, origin=Origin.HUMAN)),
    ],
)
def test_without_a_person_who_says_something_there_is_no_turn(turn: tuple[Message, ...]) -> None:
    """D41."""
    assert not has_human_message(turn)


@pytest.mark.parametrize(
    "unseen", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u3164", "\u2800", "\ufe0f", "\x07"]
)
def test_signs_that_nobody_sees_are_nothing_said(unseen: str) -> None:
    assert not has_human_message((said(Role.USER, f" {unseen}\n{unseen}"),))
    assert has_human_message((said(Role.USER, f"{unseen}?"),))


@pytest.mark.parametrize("content", ["?", "7", "好", "é", "👍", "❤\ufe0f", "\u0915\u094d"])
def test_a_single_sign_that_shows_is_something_said(content: str) -> None:
    assert has_human_message((said(Role.USER, content),))


def test_a_blank_message_beside_a_spoken_one_does_not_hide_it() -> None:
    assert has_human_message((said(Role.USER, ""), said(Role.USER, "ok")))
