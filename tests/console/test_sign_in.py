from __future__ import annotations

from tests.console.browser import Browser
from tests.console.told import Told


def test_a_key_opens_the_page_that_was_asked_for_and_is_shown_masked(
    browser: Browser, told: Told
) -> None:
    key = told.tenant.admin_key
    browser.open(f"/timeline?namespace={told.namespace}")
    browser.picture("sign-in")
    browser.find("#key").send_keys(key)
    browser.find("button[type=submit]").click()
    browser.wait_for(lambda: "/timeline" in browser.driver.current_url, "the page asked for")
    browser.settle()
    assert browser.find(".sg-key").text == f"sg_…{key[-4:]}"
    assert key not in browser.driver.page_source
    assert all(key not in address for address in browser.requests())
    assert key not in told.system.log("console")


def test_a_wrong_key_opens_nothing_and_says_so(browser: Browser) -> None:
    browser.open("/overview")
    browser.find("#key").send_keys("sg_wrong")
    browser.find("button[type=submit]").click()
    browser.wait_for_text("This key opens nothing")
    assert browser.find("[role=alert]").text
    browser.open("/overview")
    assert "/sign-in" in browser.driver.current_url


def test_signing_out_ends_it_for_the_pages_that_are_open_too(signed_in: Browser) -> None:
    cookies = signed_in.driver.get_cookies()
    (cookie,) = [one for one in cookies if one["name"] == "stratagate_console"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    signed_in.press("Sign out")
    signed_in.wait_for_text("You are signed out")
    signed_in.driver.delete_all_cookies()
    signed_in.driver.add_cookie(cookie)
    signed_in.open("/overview")
    assert "/sign-in" in signed_in.driver.current_url


def test_the_way_in_leads_to_no_other_address(browser: Browser, told: Told) -> None:
    browser.sign_in(
        told.tenant.admin_key, path="/sign-in?next=https%3A%2F%2Fexample.com%2Foverview"
    )
    assert browser.driver.current_url.startswith(f"{browser.url}/overview")
