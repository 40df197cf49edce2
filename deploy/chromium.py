"""Chromium and its driver, for the console's tests: where they are, or what to install."""

from __future__ import annotations

import shutil

REMEDY = (
    "the console's tests need Chromium and its driver: "
    "apt-get install chromium chromium-driver (Debian), "
    "or apt-get install chromium-browser chromium-chromedriver (Ubuntu)"
)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> tuple[str, str] | None:
    """Return the paths of browser and driver, None when one is missing."""
    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    return None if browser is None or driver is None else (browser, driver)
