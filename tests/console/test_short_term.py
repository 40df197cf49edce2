from __future__ import annotations

from selenium.webdriver.common.keys import Keys

from tests.console.browser import Browser
from tests.console.told import Told

RAIL = ".sg-rail-block"


def _open(browser: Browser, told: Told, **more: str) -> None:
    query = "".join(f"&{name}={value}" for name, value in more.items())
    browser.open(f"/short-term?namespace={told.namespace}&thread=orion{query}")


def test_the_rail_shows_every_block_at_todays_level_and_the_open_tail(
    signed_in: Browser, told: Told
) -> None:
    _open(signed_in, told)
    signed_in.resize(1440, 1240)
    signed_in.picture("short-term")
    blocks = told.see("threads/orion/blocks")["items"]
    levels = signed_in.texts(f"{RAIL} .sg-level")
    assert levels == [*(f"L{one['level']}" for one in reversed(blocks)), "open"]
    assert len(set(levels)) >= 4
    signed_in.all(RAIL)[-1].click()
    signed_in.settle()
    assert "And the old npm cache was deleted last Tuesday." in signed_in.text
    assert "1 of 4 turns" in signed_in.text
    assert signed_in.api_queries <= 10


def test_the_slider_looks_at_each_level_and_changes_nothing(signed_in: Browser, told: Told) -> None:
    oldest = told.see("threads/orion/blocks")["items"][-1]
    before = told.see(f"blocks/{oldest['block_id']}")
    _open(signed_in, told, block=oldest["block_id"])
    slider = signed_in.find(".sg-slider input")
    slider.send_keys(Keys.HOME)
    levels = before["levels"]
    for view in levels:
        signed_in.wait_for_text(view["label"])
        signed_in.wait_for_text(f"{view['tokens']} tokens, ")
        assert signed_in.find(".sg-level-text").text == view["content"].strip()
        assert slider.get_attribute("aria-valuetext") == view["label"]
        share = f"{100 * view['share']:.0f} % of L5"
        assert f"{view['tokens']} tokens, {share}" in signed_in.text
        slider.send_keys(Keys.ARROW_RIGHT)
    assert told.see(f"blocks/{oldest['block_id']}") == before


def test_lifting_a_block_is_announced_recorded_and_seen_by_everybody(
    signed_in: Browser, told: Told
) -> None:
    block = told.see("threads/orion/blocks")["items"][-2]
    assert block["level"] < 4
    _open(signed_in, told, block=block["block_id"])
    assert "recorded as an expansion by a person" in " ".join(signed_in.text.split())
    offered = signed_in.texts(".sg-block .sg-button")
    assert offered == [f"Expand to L{level}" for level in range(block["level"] + 1, 6)]
    signed_in.press("Expand to L4")
    signed_in.wait_for_text("Expanded to L4, and recorded.")
    assert "lifted by user" in signed_in.text
    signed_in.settle()
    signed_in.resize(1440, 1500)
    signed_in.picture("short-term-lifted")
    after = told.see(f"blocks/{block['block_id']}")
    assert (after["level"], after["lifted_by"], after["blocks_since_anchor"]) == (4, "user", 0)
    assert "Anchored at L4" in (signed_in.find(".sg-drawing svg").get_attribute("aria-label") or "")
