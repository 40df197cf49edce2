"""Recalled text is text: no message becomes a part of the page, whoever wrote it."""

from __future__ import annotations

import pytest

from tests.console.browser import Browser
from tests.console.small import HOSTILE
from tests.console.told import Told


def assert_inert(browser: Browser) -> None:
    """Nothing of a message ran, and nothing of it became an element."""
    assert browser.script("return window.pwned") is None
    assert browser.all("img[src=x], a[href^='javascript:']") == []
    assert not any("an editor" in one.text for one in browser.all("b"))


@pytest.mark.parametrize(
    ("lane", "shown"), [(0, ""), (2, "<script>window.pwned=1</script>"), (3, "")]
)
def test_searches_show_a_hostile_message_as_it_was_written(
    signed_in: Browser, mine: Told, lane: int, shown: str
) -> None:
    signed_in.open(f"/ask?namespace={mine.namespace}&thread=orion&q=editor+of+Orion+plan")
    signed_in.press("Search")
    signed_in.wait_for(lambda: len(signed_in.all(".q-tab")) == 5, "the tabs")
    signed_in.all(".q-tab")[lane].click()
    signed_in.wait_for(lambda: signed_in.all(".sg-found"), "items")
    if shown:
        signed_in.wait_for_text(shown)
        assert "[the plan](javascript:window.pwned=3) is **bold**" in signed_in.text
    assert_inert(signed_in)


def test_the_prompt_context_shows_it_as_text(signed_in: Browser, mine: Told) -> None:
    signed_in.open(f"/ask?namespace={mine.namespace}&thread=orion&q=editor")
    signed_in.press("Search")
    signed_in.wait_for(lambda: len(signed_in.all(".q-tab")) == 5, "the tabs")
    signed_in.all(".q-tab")[4].click()
    signed_in.press("All of it as one text, as it goes into a prompt")
    signed_in.wait_for(
        lambda: HOSTILE in str(signed_in.find(".sg-prompt").text), "the message, to the letter"
    )
    assert_inert(signed_in)


def test_graph_and_question_are_inert_too(signed_in: Browser, mine: Told) -> None:
    signed_in.open(f"/graph?namespace={mine.namespace}")
    signed_in.find(".sg-graph canvas")
    assert_inert(signed_in)
    asked = "%3Cimg+src%3Dx+onerror%3Dwindow.pwned%3D4%3E"
    signed_in.open(f"/ask?namespace={mine.namespace}&q={asked}")
    signed_in.press("Search")
    signed_in.wait_for_text("What is found for “<img src=x onerror=window.pwned=4>”")
    assert_inert(signed_in)
