"""Where Chromium and its driver are on this machine, and what to install where they are not."""

from __future__ import annotations

import shutil

from selenium import webdriver

REMEDY = (
    "the console's tests need Chromium and its driver: "
    "apt-get install chromium chromium-driver (Debian), "
    "or apt-get install chromium-browser chromium-chromedriver (Ubuntu)"
)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_QUIET = (
    "--headless=new",
    "--no-sandbox",  # test machines run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-default-browser-check",
    # The browser itself asks for nothing either, so that each request seen is a page's.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--force-color-profile=srgb",
    "--window-size=1440,960",
)


def find() -> tuple[str, str] | None:
    """Return the paths of browser and driver, None when one is missing."""
    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    return None if browser is None or driver is None else (browser, driver)


def start(browser: str, driver: str) -> webdriver.Chrome:
    """Start a headless browser that logs each request of its pages and each word of its console."""
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in _QUIET:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    started = webdriver.Chrome(options=options, service=service)
    started.set_page_load_timeout(60)
    return started
