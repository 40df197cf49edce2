"""Search by words in other scripts and spellings, over HTTP and without vectors."""

from __future__ import annotations

import unicodedata
from typing import Any

from tests.integration.retrieval.world import World


def _remember(world: World, *said: str) -> list[str]:
    """Store each sentence as a message of its own thread and as an event."""
    events: list[str] = []
    for number, text in enumerate(said):
        block = world.block(text, "。", thread_id=f"t{number}")
        events.append(world.event(block, text))
    return events


def _found(world: World, query: str) -> list[str]:
    """Ask for events, and hold raw search to the same best answer."""
    reply: Any = world.ask("events/search", {"query": query})
    raw = world.ask("raw/search", {"query": query})["items"]
    titles = [item["title"] for item in reply["items"]]
    assert [item["message"]["content"] for item in raw[:1]] == titles[:1]
    return [item["event_id"] for item in reply["items"]]


def test_lang_01_a_chinese_question_finds_the_event_by_its_characters(world: World) -> None:
    meeting, _ = _remember(world, "小组决定把周会改到星期四下午。", "新的咖啡机放在二楼。")
    assert _found(world, "周会什么时候")[0] == meeting


def test_lang_07_full_width_and_plain_letters_are_the_same(world: World) -> None:
    [server] = _remember(world, "サーバー名はＡＬＰＨＡ－２です。")
    assert _found(world, "alpha-2") == [server]


def test_lang_08_korean_particles_do_not_hide_a_noun(world: World) -> None:
    meeting, _ = _remember(world, "회의는 매주 수요일에 열린다.", "주차장은 지하에 있다.")
    assert _found(world, "수요일 회의")[0] == meeting


def test_lang_09_spellings_of_an_accent_match_and_no_accent_matches_less(world: World) -> None:
    sentence = "Le café préféré est près du quai."
    [cafe] = _remember(world, unicodedata.normalize("NFC", sentence))
    composed, decomposed = (unicodedata.normalize(form, "café préféré") for form in ("NFC", "NFD"))
    assert _found(world, composed) == _found(world, decomposed) == [cafe]
    assert _found(world, "cafe prefere") == [cafe]


def test_lang_09_an_exact_spelling_outranks_one_without_accents(world: World) -> None:
    exact, _ = _remember(world, "Le café préféré.", "Le cafe prefere.")
    assert _found(world, "café préféré")[0] == exact
