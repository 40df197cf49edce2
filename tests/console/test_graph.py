from __future__ import annotations

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.console.browser import Browser
from tests.console.told import Told

_WHERE = """
const chart = getElement(document.querySelector('.sg-graph').id.slice(1)).chart;
const data = chart.getModel().getSeriesByIndex(0).getData();
for (let i = 0; i < data.count(); i++)
  if (data.getRawDataItem(i).name === arguments[0])
    return chart.convertToPixel({seriesIndex: 0}, data.getItemLayout(i));
return null;
"""


def state_of(browser: Browser, name: str) -> str:
    """Return the state of a node as the table has it; empty while it has no such node."""
    found = browser.all(f"tr:has(button[data-node='{name}']) td:nth-child(3)")
    return found[0].text if found else ""


def test_the_picture_and_the_table_say_the_same(signed_in: Browser, told: Told) -> None:
    signed_in.open(f"/graph?namespace={told.namespace}")
    signed_in.find(".sg-graph canvas")
    drawn = told.see("graph", limit=200)
    names = {str(node["name"]) for node in drawn["nodes"]}
    assert {one.text for one in signed_in.all(".sg-table [data-node]")} == names
    in_picture = signed_in.script(
        "return getElement(document.querySelector('.sg-graph').id.slice(1))"
        ".chart.getOption().series[0].data.map(one => one.name)"
    )
    assert set(in_picture) == names
    assert signed_in.api_queries <= 10


def test_a_node_leads_down_to_what_was_said(signed_in: Browser, told: Told) -> None:
    signed_in.open(f"/graph?namespace={told.namespace}")
    signed_in.press("Orion")
    signed_in.wait_for_text("What was believed, and on what")
    panel = signed_in.find(".sg-node-panel").text
    assert "package manager: pnpm" in panel
    assert "package manager: npm" in panel
    assert "no longer" in panel
    grounds = signed_in.all(".sg-ground summary")
    switched = next(one for one in grounds if "switched from npm to pnpm" in one.text)
    switched.click()
    signed_in.press("Show the source messages")
    signed_in.wait_for_text("Orion switched from npm to pnpm because the lock file conflicts cost")
    marked = signed_in.wait_for(lambda: signed_in.texts(".sg-source mark"), "quoted words")
    assert any("switched from npm to pnpm" in one for one in marked)
    signed_in.picture("graph")


def test_the_slider_shows_the_graph_as_it_was(signed_in: Browser, told: Told) -> None:
    signed_in.open(f"/graph?namespace={told.namespace}")
    signed_in.wait_for(lambda: "pnpm" in state_of(signed_in, "Orion"), "the present state")
    signed_in.named("As it was on").send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    signed_in.wait_for(
        lambda: "package manager: npm" in state_of(signed_in, "Orion"), "the state of February"
    )
    assert "pnpm" not in {one.text for one in signed_in.all(".sg-table [data-node]")}
    assert "Feb 2026" in signed_in.find(".sg-as-of-day").text
    assert "at=2026-02-0" in signed_in.driver.current_url
    signed_in.picture("graph-as-it-was")
    signed_in.press("Now")
    signed_in.wait_for(lambda: "pnpm" in state_of(signed_in, "Orion"), "the present state again")


def test_a_node_is_opened_by_a_click_in_the_picture(signed_in: Browser, told: Told) -> None:
    signed_in.open(f"/graph?namespace={told.namespace}")
    canvas = signed_in.find(".sg-graph canvas")
    signed_in.script("arguments[0].scrollIntoView({block: 'center'})", canvas)

    def chosen() -> bool:
        at = signed_in.script(_WHERE, "Mara Lindqvist")
        if at is None:
            return False
        size = canvas.size
        offset = (round(at[0] - size["width"] / 2), round(at[1] - size["height"] / 2))
        ActionChains(signed_in.driver).move_to_element_with_offset(
            canvas, *offset
        ).click().perform()
        return "Harbour Institute" in signed_in.find(".sg-node-panel").text

    signed_in.wait_for(chosen, "the node opens")
    assert "Mara Lindqvist" in signed_in.find(".sg-node-panel").text


def test_a_page_can_be_linked_to_with_its_day_and_node(signed_in: Browser, told: Told) -> None:
    signed_in.open(f"/graph?namespace={told.namespace}")
    signed_in.press("Orion")
    signed_in.wait_for(lambda: "node=nod_" in signed_in.driver.current_url, "the node's address")
    address = signed_in.driver.current_url
    signed_in.driver.get(address + "&at=2026-02-03")
    signed_in.settle()
    assert "package manager: npm" in signed_in.find(".sg-node-state").text
    assert "not then" in signed_in.find(".sg-node-panel").text
    assert signed_in.api_queries <= 10
