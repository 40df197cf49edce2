"""A headless Chromium that says every request of its pages, and makes none of its own."""

from __future__ import annotations

from selenium import webdriver

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
