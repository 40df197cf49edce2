from __future__ import annotations

import json

from tests.console.browser import Browser
from tests.console.small import HOSTILE
from tests.console.told import Told

EXPORT = {
    "schemaVersion": "stratagate.external-memory.v2",
    "sourceType": "external_ai_memory_export",
    "sourceSystem": "Another",
    "candidates": [
        {
            "memoryKind": "preference",
            "category": "preference",
            "title": "Prefers dark mode in every editor",
            "summary": "The user prefers dark mode in every editor.",
            "quotes": ["dark mode everywhere, please"],
            "scope": "user",
            "confidence": 0.9,
        },
        {
            "memoryKind": "fact",
            "category": "project",
            "title": "The package manager of Orion is yarn",
            "summary": "The package manager of Orion is yarn.",
            "scope": "project",
            "confidence": 0.6,
        },
        {
            "memoryKind": "fact",
            "category": "project",
            "title": HOSTILE[:120],
            "summary": HOSTILE,
            "scope": "project",
            "confidence": 0.9,
        },
    ],
}


def titles(mine: Told) -> list[str]:
    """Return the titles of all events as an agent may find them."""
    items = mine.see("events", limit=200)["items"]
    return sorted(str(one["title"]) for one in items)


def test_an_import_is_pasted_previewed_decided_confirmed_and_undone(
    signed_in: Browser, mine: Told
) -> None:
    before = titles(mine)
    signed_in.open(f"/import?namespace={mine.namespace}")
    assert signed_in.api_queries <= 10
    assert "stratagate.external-memory.v2" in signed_in.find(".sg-import-prompt").text
    signed_in.picture("import")
    _paste(signed_in, json.dumps(EXPORT))
    signed_in.press("Preview")
    signed_in.wait_for(lambda: "import=imp_" in signed_in.driver.current_url, "the preview")
    signed_in.wait_for_text("3 of 3 candidates decided")
    signed_in.picture("import-preview")
    _decide_to_add(signed_in)
    signed_in.press("Confirm the import")
    signed_in.wait_for_text("Written into memory")
    assert "Prefers dark mode in every editor" in titles(mine)
    signed_in.press("Take the import back")
    signed_in.press("Take it back")
    signed_in.wait_for_text("Memory is as it was before")
    assert titles(mine) == before
    assert signed_in.script("return window.pwned") is None


def _paste(browser: Browser, said: str) -> None:
    field = browser.find("textarea")
    browser.script(
        "arguments[0].value = arguments[1];"
        "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
        field,
        said,
    )
    browser.wait_for(lambda: field.get_attribute("value") == said, "the text is pasted")
    browser.script("arguments[0].blur()", field)


def _decide_to_add(browser: Browser) -> None:
    """Decide for every candidate that waits for a person: add it."""
    while waiting := [one for one in browser.all(".sg-candidate") if "Decide …" in one.text]:
        chooser = waiting[0].find_element("css selector", ".q-select")
        browser.script("arguments[0].scrollIntoView({block: 'center'})", chooser)
        chooser.click()
        browser.wait_for(lambda: browser.all("[role=option]"), "the actions")
        option = next(one for one in browser.all("[role=option]") if one.text == "Add it")
        option.click()
        browser.wait_for(lambda: not browser.all("[role=option]"), "the choice closes")


def test_what_is_no_import_says_so(signed_in: Browser, mine: Told) -> None:
    signed_in.open(f"/import?namespace={mine.namespace}")
    signed_in.press("Preview")
    assert signed_in.find("[role=alert]").text


def test_the_prompt_can_be_copied_in_both_languages(signed_in: Browser, mine: Told) -> None:
    signed_in.open(f"/import?namespace={mine.namespace}")
    signed_in.press("Copy the prompt (English)")
    signed_in.wait_for_text("The prompt is copied.")
    signed_in.all(".q-tab")[1].click()
    signed_in.named("Copy the prompt (中文)")
    assert "stratagate.external-memory.v2" in signed_in.find(".sg-import-prompt").text
