from __future__ import annotations

import pytest

from retrieval.console.components.figures import age, counted, number
from retrieval.console.components.moments import written
from retrieval.console.components.quotes import marked
from retrieval.console.navigation import page_url
from retrieval.console.overview.health import verdict
from retrieval.console.sign_in import local_page
from retrieval.console.signed_in import SignedInBrowsers


@pytest.mark.parametrize(
    ("content", "quotes", "wanted"),
    [
        ("We use npm now.", ["use npm"], ["We ", "*use npm", " now."]),
        ("We use\n  npm.", ["use npm"], ["We ", "*use\n  npm", "."]),
        ("x b a b", ["b", "b a"], ["x ", "*b a", " b"]),
        ("Costs (1+1) $", ["(1+1)"], ["Costs ", "*(1+1)", " $"]),
        ("nothing", ["else", "  "], ["nothing"]),
        ("", ["x"], []),
    ],
)
def test_quotes_are_marked_where_they_stand(
    content: str, quotes: list[str], wanted: list[str]
) -> None:
    parts = marked(content, quotes)
    assert [f"{'*' if is_quoted else ''}{part}" for part, is_quoted in parts] == wanted
    assert "".join(part for part, _ in parts) == content


def test_instants_are_written_in_the_offset_they_were_given_in() -> None:
    assert written("2026-03-09T14:05:00+02:00") == "9 Mar 2026, 14:05 +02:00"
    assert written("2026-03-09T14:05:00+00:00") == "9 Mar 2026, 14:05 UTC"
    assert written("2026-03-09") == "9 Mar 2026"
    assert written("some day") == "some day"


def test_figures_are_written_for_people() -> None:
    assert number(1234567) == "1\u202f234\u202f567"
    assert (number(None), age(None)) == ("–", "–")
    assert [age(s) for s in (5, 185, 7300, 400_000)] == ["5 s", "3 min", "2 h", "4 days"]
    assert (counted(1, "block"), counted(2, "block")) == ("1 block", "2 blocks")


@pytest.mark.parametrize(
    ("wanted", "led_to"),
    [
        ("/timeline?event=evt_1", "/timeline?event=evt_1"),
        ("/overview", "/overview"),
        ("//example.com/overview", "/overview"),
        ("https://example.com/overview", "/overview"),
        ("/sign-out", "/overview"),
        ("javascript:alert(1)", "/overview"),
        ("", "/overview"),
    ],
)
def test_signing_in_leads_to_a_page_of_the_console_alone(wanted: str, led_to: str) -> None:
    assert local_page(wanted) == led_to


def test_an_address_leaves_out_what_is_not_chosen() -> None:
    assert page_url("graph", {"namespace": "a:b", "thread": None, "at": ""}) == (
        "/graph?namespace=a%3Ab"
    )
    assert page_url("graph", {}) == "/graph"


def test_an_idle_browser_is_signed_out_and_its_key_forgotten() -> None:
    now = 0.0
    browsers = SignedInBrowsers(seconds=lambda: now)
    token = browsers.sign_in("sg_one")
    now = 11 * 3600
    found = browsers.find(token)
    assert found is not None
    now = 22 * 3600
    assert browsers.find(token) is found
    now = 35 * 3600
    assert browsers.find(token) is None
    assert found.key == ""
    assert browsers.find(None) is None


@pytest.mark.parametrize(
    ("broker", "failed", "live", "tone", "title"),
    [
        (False, 3, {}, "bad", "Processing waits"),
        (True, 1, {}, "bad", "1 job needs a person"),
        (True, 2, {}, "bad", "2 jobs need a person"),
        (True, 0, {"extract": {"jobs": 2, "oldest_s": 3.0}}, "busy", "Memory is being made"),
        (True, 0, {"extract": {"jobs": 2, "oldest_s": 300.0}}, "busy", "Memory is behind"),
        (True, 0, {}, "good", "Memory is up to date"),
    ],
)
def test_the_worst_that_is_known_is_said_first(
    broker: bool, failed: int, live: dict[str, dict[str, float]], tone: str, title: str
) -> None:
    health = {"parts": {"database": {"ok": True}, "broker": {"ok": broker}}}
    counts = {"in_progress": live, "turns": 4, "open_tail_turns": 1}
    assert verdict(health, counts, failed=failed)[:2] == (tone, title)
