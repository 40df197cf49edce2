from __future__ import annotations

from typing import Any

from tests.console.browser import Browser
from tests.console.told import Told

QUESTION = "Which package manager did Mara choose for Orion?"


def test_a_question_is_asked_assessed_and_its_use_recorded(signed_in: Browser, mine: Told) -> None:
    signed_in.open(f"/ask?namespace={mine.namespace}&thread=orion")
    assert signed_in.api_queries <= 10
    signed_in.type_into("Question", QUESTION)
    signed_in.press("Search")
    signed_in.wait_for_text("memory_search_events")
    assert "Matches 'package'" in signed_in.text
    (item,) = (one for one in signed_in.all(".sg-found") if "switched from npm to pnpm" in one.text)
    item.find_element("css selector", ".q-checkbox").click()
    signed_in.wait_for_text("1 cited.")
    signed_in.find(".sg-verdicts .q-radio").click()
    signed_in.press("Assess")
    signed_in.wait_for_text("It counts as")
    # A name of the question that the cited event does not contain.
    assert any("Mara" in one for one in signed_in.texts(".sg-advisory"))
    signed_in.press("Record that the answer used these")
    signed_in.wait_for_text("The use is recorded")
    receipt = signed_in.find(".sg-receipt")
    assert "adopted 2 times" in receipt.text
    used: Any = mine.see("usage-audit")["items"]
    assert [use["use_receipt_id"] in receipt.text for use in used] == [True]
    signed_in.script("arguments[0].scrollIntoView({block: 'center'})", receipt)
    signed_in.picture("ask-receipt")
    _chain(signed_in)
    _transcript(signed_in, mine)


def _chain(browser: Browser) -> None:
    browser.press("See it in the usage audit")
    browser.settle()
    browser.wait_for_text(QUESTION)
    assert browser.api_queries <= 10
    assert [one.splitlines()[0] for one in browser.texts(".sg-link")] == [
        "Answer",
        "Verdict",
        "Evidence",
        "Source",
    ]
    said = browser.find(".sg-use").text
    assert "sufficient" in said
    assert "strengthened" in said
    assert "Orion switched from npm to pnpm because the lock file conflicts cost us hours." in said


def _transcript(browser: Browser, mine: Told) -> None:
    browser.open(f"/usage-audit?namespace={mine.namespace}&thread=orion&view=transcript")
    assert "judged sufficient" in browser.text
    assert "used 1 ref" in browser.text
    assert browser.api_queries <= 10


def test_the_other_lanes_and_the_context_are_a_tab_away(signed_in: Browser, told: Told) -> None:
    signed_in.open(f"/ask?namespace={told.namespace}&thread=home")
    signed_in.type_into("Question", "Why did Orion switch to pnpm?")
    signed_in.press("Search")
    signed_in.wait_for_text("memory_search_events")
    signed_in.script("window.scrollTo(0, 0)")
    signed_in.picture("ask")
    for tab, said in (
        ("graph", "memory_search_graph"),
        ("messages", "memory_search_raw"),
        ("blocks", "blocks/search"),
        ("context", "tokens, estimated"),
    ):
        signed_in.wait_for(lambda: len(signed_in.all(".q-tab")) == 5, "the tabs")
        number = ["events", "graph", "messages", "blocks", "context"].index(tab)
        signed_in.all(".q-tab")[number].click()
        signed_in.wait_for_text(said)
    signed_in.press("All of it as one text, as it goes into a prompt")
    assert "Activated long-term memory" in signed_in.find(".sg-prompt").text
    signed_in.picture("ask-context")


def test_a_verdict_without_evidence_is_lowered_and_told(signed_in: Browser, told: Told) -> None:
    signed_in.open(f"/ask?namespace={told.namespace}&thread=home&q=cello")
    signed_in.press("Search")
    signed_in.wait_for_text("memory_search_events")
    signed_in.find(".sg-verdicts .q-radio").click()
    signed_in.press("Assess")
    signed_in.wait_for_text("The gate lowered the verdict")
    assert "Record that the answer used these" not in signed_in.text


def test_an_agents_answer_is_told_from_its_turn_down_to_what_was_said(
    signed_in: Browser, mine: Told
) -> None:
    question = "Why did Orion switch to pnpm?"
    found = _post(mine, f"{mine.read}/events/search", {"query": question, "thread_id": "orion"})
    ref = next(
        one["evidence_ref"] for one in found["items"] if "switched from npm to pnpm" in one["title"]
    )
    batch = f"/v1/batches/{found['batch_id']}"
    _post(
        mine,
        f"{batch}/assessment",
        {
            "verdict": "sufficient",
            "evidence_refs": [ref],
            "fit": "It names the switch and its reason.",
            "next_strategy": "answer",
            "question": question,
        },
    )
    _post(
        mine,
        f"{batch}/use",
        {
            "evidence_refs": [ref],
            "receipt_id": "an-answer",
            "answer": {"thread_id": "orion", "turn_receipt_id": "hostile"},
        },
    )
    signed_in.open(f"/usage-audit?namespace={mine.namespace}")
    chain = signed_in.find(".sg-use").text
    assert question in chain
    assert "of orion" in chain
    assert "It names the switch and its reason." in chain
    signed_in.picture("usage-audit")


def _post(mine: Told, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = mine.http.post(path, json=body)
    assert answer.is_success, answer.text
    content: dict[str, Any] = answer.json()
    return content
