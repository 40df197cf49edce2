from __future__ import annotations

from retrieval.console.timeline.filters import TYPES
from shared.domain.events import EventType
from tests.console.browser import Browser
from tests.console.told import Told

OLD = "The user and others decided to use npm as the package manager of Orion"


def _open(browser: Browser, told: Told, **query: str) -> None:
    more = "".join(f"&{name}={value}" for name, value in query.items())
    browser.open(f"/timeline?namespace={told.namespace}{more}")


def test_an_event_is_followed_to_its_quote_and_to_what_replaced_it(
    signed_in: Browser, told: Told
) -> None:
    _open(signed_in, told)
    signed_in.resize(1440, 1100)
    signed_in.picture("timeline")
    link = signed_in.find(f".sg-event[href*='{told.events[OLD]}']")
    signed_in.script("arguments[0].click()", link)
    signed_in.wait_for(lambda: signed_in.all(".sg-side mark"), "the quote is marked")
    assert signed_in.texts(".sg-side mark") == [
        "We decided to use npm as the package manager of Orion."
    ]
    chain = signed_in.texts(".sg-chain li")
    assert "superseded" in chain[0]
    assert "holds" in chain[-1]
    assert signed_in.api_queries <= 10
    signed_in.settle()
    signed_in.resize(1440, 1100)
    signed_in.picture("timeline-event")
    for words in ("Edit", "Save", "Delete"):
        assert words not in signed_in.text
    assert signed_in.all("[contenteditable=true], textarea") == []


def test_filters_are_hard_and_an_empty_outcome_says_so(signed_in: Browser, told: Told) -> None:
    _open(signed_in, told, status="superseded")
    wanted = told.http.get(f"{told.read}/timeline", params={"statuses": "superseded"}).json()
    assert len(signed_in.all(".sg-event")) == len(wanted["items"]) >= 1
    signed_in.find("[name=participants]").send_keys("Nobody Known")
    signed_in.press("Show")
    signed_in.wait_for_text("No event passes these filters")
    signed_in.press("Clear")
    signed_in.wait_for(lambda: len(signed_in.all(".sg-event")) > 10, "all events again")
    _open(
        signed_in,
        told,
        type="incident",
        **{"from": "2026-03-01", "to": "2026-03-31"},
        zone="Europe/Berlin",
    )
    assert len(signed_in.all(".sg-event")) == 1


def test_every_type_of_event_can_be_asked_for() -> None:
    assert set(TYPES) == {kind.value for kind in EventType}


def test_a_contradiction_is_settled_with_both_quotes_in_sight_and_reopened(
    signed_in: Browser, told: Told
) -> None:
    sides = [title for title in told.events if title.startswith("Jonas")][:2]
    told.contradict(*(told.events[title] for title in sides))
    _open(signed_in, told)
    assert "Contradictions wait for a decision" in signed_in.text
    quotes = signed_in.all(".sg-conflict blockquote")
    assert len(quotes) == 2
    signed_in.script("arguments[0].scrollIntoView()", signed_in.find("#contradictions"))
    signed_in.picture("timeline-contradiction")
    signed_in.press(f"This one holds: {sides[0]}")
    signed_in.wait_for_text("None is open.")
    kept, lost = (told.see(f"events/{told.events[title]}") for title in sides)
    assert (kept["status"], lost["status"]) == ("active", "superseded")
    signed_in.press("Settled ones too")
    signed_in.press("Reopen")
    signed_in.wait_for_text("Open again.")
    signed_in.wait_for(lambda: signed_in.all(".sg-conflict blockquote"), "it is open")
    assert told.see(f"events/{told.events[sides[1]]}")["status"] == "active"
    signed_in.press("Both hold")
    signed_in.wait_for_text(": both hold.")


def test_an_event_is_forgotten_and_restored_with_a_reason(signed_in: Browser, told: Told) -> None:
    title = "There was an outage of Fjord last night: the disk was full"
    event = told.events[title]
    _open(signed_in, told, event=event)
    signed_in.type_into("Reason, for the audit", "told in jest")
    signed_in.press("Forget")
    signed_in.wait_for(lambda: "Restore" in signed_in.text, "it can be restored")
    assert told.see(f"events/{event}")["status"] == "forgotten"
    signed_in.press("Restore")
    signed_in.wait_for(lambda: "Forget" in signed_in.texts(".sg-side .sg-button"), "it holds")
    assert told.see(f"events/{event}")["status"] == "active"
