"""What a person does with the console: open, read, click, type; and what the page did meanwhile."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.support.waiting import wait_until

T = TypeVar("T")
WAIT_S = 40.0
_INWARD = ("data", "blob", "about", "chrome", "devtools")
_REQUESTS = ("Network.requestWillBeSent", "Network.webSocketCreated")


class Browser:
    """A browser on the console; one a test process, emptied for each test."""

    def __init__(self, driver: webdriver.Chrome, url: str, pictures: Path) -> None:
        self.driver = driver
        self.url = url
        self._pictures = pictures

    # Getting about

    def forget(self) -> None:
        """Begin as a stranger: no cookie, no log, light colours, and Chromium's own size."""
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.colours("light")
        self.resize(1440, 960)
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)  # type: ignore[no-untyped-call] # untyped in selenium

    def open(self, path: str) -> None:
        """Open an address of the console and wait until its page stands."""
        self.driver.get(self.url + path)
        self.settle()

    def settle(self) -> None:
        """Wait until the page is built and listens to its server."""
        self.wait_for(lambda: self.script(_SETTLED), "the page stands and is connected")

    def sign_in(self, key: str, *, path: str = "/overview") -> None:
        """Sign in with a key, on the way to a page."""
        self.open(path)
        self.find("#key").send_keys(key)
        self.find("button[type=submit]").click()
        self.wait_for(lambda: "/sign-in" not in self.driver.current_url, "signed in")
        self.settle()

    def colours(self, scheme: Literal["light", "dark"]) -> None:
        """Make the system prefer light or dark colours."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def resize(self, width: int, height: int) -> None:
        """Give the page another size, in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    # Reading and acting

    def find(self, css: str) -> WebElement:
        """Return the first element that matches, once it is there."""
        return self.wait_for(lambda: self._first(css), f"there is {css}")

    def all(self, css: str) -> list[WebElement]:
        """Return what matches now."""
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def texts(self, css: str) -> list[str]:
        """Return the shown text of everything that matches now."""
        return [one.text for one in self.all(css)]

    @property
    def text(self) -> str:
        """All that the page shows."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def wait_for_text(self, said: str) -> None:
        """Wait until the page shows a text."""
        self.wait_for(lambda: said in self.text, f"the page says {said!r}")

    def named(self, name: str, *, tag: str = "*") -> WebElement:
        """Return the first shown link, button or field of that accessible name."""

        def look() -> WebElement | None:
            for one in self.driver.find_elements(By.CSS_SELECTOR, _ACTIVE if tag == "*" else tag):
                if one.is_displayed() and one.accessible_name == name:
                    return one
            return None

        return self.wait_for(look, f"there is something called {name!r}")

    def press(self, name: str) -> None:
        """Click the link or button of that accessible name."""
        target = self.named(name)
        self.script("arguments[0].scrollIntoView({block: 'center'})", target)
        target.click()

    def type_into(self, name: str, text: str) -> None:
        """Replace what stands in the field of that name."""
        field = self.named(name)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)

    def script(self, code: str, *arguments: Any) -> Any:
        """Run JavaScript in the page."""
        return self.driver.execute_script(code, *arguments)

    def wait_for(self, check: Callable[[], T | None], what: str, *, within_s: float = WAIT_S) -> T:
        """Wait for something in a page that may be rebuilt meanwhile."""

        def look() -> T | None:
            try:
                return check()
            except (StaleElementReferenceException, NoSuchElementException):
                return None

        try:
            return wait_until(look, what, within_s=within_s)  # type: ignore[return-value] # truthy
        except AssertionError as error:
            error.add_note(f"at {self.driver.current_url} the page says:\n{self.text[:3000]}")
            raise

    def _first(self, css: str) -> WebElement | None:
        return next(iter(self.all(css)), None)

    # What the page did

    def picture(self, name: str, *, colours: tuple[Literal["light", "dark"], ...] = ()) -> None:
        """Take the whole page as `<name>-light.png` and `<name>-dark.png`."""
        for scheme in colours or ("light", "dark"):
            self.colours(scheme)
            self.wait_for(lambda: self.script(_IS_DARK) == (scheme == "dark"), scheme)  # noqa: B023 - called at once
            self.wait_for(lambda: self.script(_IS_STILL), "colours have changed")
            shot = self.driver.execute_cdp_cmd(
                "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": False}
            )
            path = self._pictures / f"{name}-{scheme}.png"
            path.write_bytes(base64.b64decode(shot["data"]))
        self.colours("light")

    @property
    def api_queries(self) -> int:
        """How often this page asked the API, as it says at its foot."""
        return int(self.find("[data-queries]").get_attribute("data-queries") or -1)

    def requests(self) -> list[str]:
        """Return every address that pages asked for since the last call."""
        found = []
        for line in self.driver.get_log("performance"):  # type: ignore[no-untyped-call] # untyped in selenium
            event = json.loads(line["message"])["message"]
            if event["method"] in _REQUESTS:
                details = event["params"]
                found.append(details.get("url") or details["request"]["url"])
        return found

    def assert_quiet(self) -> None:
        """No word of complaint on the console, and no request to anywhere but the console."""
        said = self.driver.get_log("browser")  # type: ignore[no-untyped-call] # untyped in selenium
        assert [line["message"] for line in said if line["level"] != "INFO"] == []
        home = urlsplit(self.url).netloc
        asked = [urlsplit(address) for address in self.requests()]
        away = [one.geturl() for one in asked if one.scheme not in _INWARD and one.netloc != home]
        assert away == []


_ACTIVE = "a, button, input, select, textarea, summary, [role=button], [role=slider], [role=option]"
_SETTLED = """
return document.readyState === 'complete'
  && !!document.querySelector('.sg-page, .sg-sign-in')
  && (!window.socket || window.socket.connected)
  && !document.querySelector('.sg-loading');
"""
_IS_STILL = """
return !document.getAnimations().some(
  one => one instanceof CSSTransition && one.playState === 'running');
"""
_IS_DARK = "return document.body.classList.contains('body--dark')"
