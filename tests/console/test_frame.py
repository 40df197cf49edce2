from __future__ import annotations

import psycopg
import pytest
from selenium.webdriver.common.keys import Keys

from retrieval.console.navigation import PAGES
from tests.console.browser import Browser
from tests.console.told import Told
from tests.support.stack import RunningSystem

MANY = 10_000
_COPIES = """
INSERT INTO events SELECT (jsonb_populate_record(NULL::events, to_jsonb(e) || jsonb_build_object(
    'event_id', 'evt_' || replace(gen_random_uuid()::text, '-', ''),
    'title', 'Copy ' || n, 'fingerprint', md5(n::text),
    'mentioned_at', e.mentioned_at - make_interval(hours => n)))).*
FROM (SELECT * FROM events WHERE tenant_id = %s AND namespace = %s LIMIT 1) AS e,
     generate_series(1, %s) AS n
"""
_FOCUS = "return document.activeElement"


def test_the_keyboard_meets_the_skip_link_first_and_the_page_next(signed_in: Browser) -> None:
    signed_in.find("body").send_keys(Keys.TAB)
    first = signed_in.script(_FOCUS)
    assert first.text == "Skip to the page"
    first.send_keys(Keys.ENTER)
    assert "sg-page" in signed_in.script(_FOCUS).get_attribute("class")


def test_landmarks_and_names_tell_a_screen_reader_where_it_is(signed_in: Browser) -> None:
    for landmark in ("header", "nav[aria-label=Pages]", "main", "h1"):
        assert len(signed_in.all(landmark)) == 1, landmark
    assert signed_in.texts(".sg-nav-link") == [_seen(entry.icon, entry.title) for entry in PAGES]
    (here,) = signed_in.all(".sg-nav-link[aria-current=page]")
    assert here.accessible_name == "Overview"
    for element in signed_in.all("a, button, input, select, textarea"):
        assert element.accessible_name or not element.is_displayed(), element.get_attribute(
            "outerHTML"
        )


def _seen(icon: str, title: str) -> str:
    """Return a link's text as the driver reads it: the icon is drawn by the letters of its name."""
    return f"{icon.removeprefix('o_')}\n{title}"


def test_colours_follow_the_system_until_somebody_chooses(signed_in: Browser) -> None:
    is_dark = "return document.body.classList.contains('body--dark')"
    assert not signed_in.script(is_dark)
    signed_in.colours("dark")
    signed_in.wait_for(lambda: signed_in.script(is_dark), "dark, as the system")
    signed_in.press("Colours: as the system has it. Change.")
    signed_in.wait_for(lambda: not signed_in.script(is_dark), "light, as chosen")
    signed_in.open("/timeline")
    assert not signed_in.script(is_dark)


@pytest.mark.parametrize("width", [390, 820])
def test_a_narrow_window_needs_no_sideways_scrolling(
    signed_in: Browser, told: Told, width: int
) -> None:
    signed_in.resize(width, 900)
    for slug in ("overview", "short-term", "timeline"):
        signed_in.open(f"/{slug}?namespace={told.namespace}")
        wide = signed_in.script("return document.documentElement.scrollWidth")
        assert wide <= width, slug
    signed_in.picture(f"narrow-{width}", colours=("light",))


def copy_events(system: RunningSystem, told: Told) -> str:
    """Return a new namespace of the demo's tenant that holds ten thousand events."""
    url = system.settings.database_url.get_secret_value()
    http, namespace = told.http, f"{told.namespace}:many"
    said = {"receipt_id": "m1", "messages": [{"role": "user", "content": "We decided on tea."}]}
    http.put(f"/v1/namespaces/{namespace}", json={"block_turn_size": 1}).raise_for_status()
    http.post(f"/v1/namespaces/{namespace}/turns", json=said).raise_for_status()
    events = f"/v1/retrieval/{namespace}/events"
    system.wait_until(lambda: http.get(events).json()["items"], "there is an event to copy")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_COPIES, [told.tenant.tenant_id, namespace, MANY])
    return namespace


def test_ten_thousand_events_cost_no_page_more_than_ten_queries_and_a_page_of_rows(
    signed_in: Browser, system: RunningSystem, told: Told
) -> None:
    namespace = copy_events(system, told)
    for entry in PAGES:
        signed_in.open(f"/{entry.slug}?namespace={namespace}")
        assert signed_in.api_queries <= 10, entry.slug
        assert len(signed_in.all("tbody tr, .sg-event")) <= 200, entry.slug
        assert not signed_in.all("[role=alert]"), entry.slug
    signed_in.open(f"/timeline?namespace={namespace}")
    first = signed_in.texts(".sg-event-title")
    assert len(first) == 30
    signed_in.press("Next page")
    signed_in.wait_for(lambda: "cursor=" in signed_in.driver.current_url, "the next page")
    signed_in.settle()
    assert not set(first) & set(signed_in.texts(".sg-event-title"))
