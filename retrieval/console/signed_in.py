"""Who is signed in: API keys in this process's memory alone, each behind a random browser token.

Never in a URL, a file, a log or the page; a restart or an idle half day signs everybody out.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_IDLE_S = 12 * 3600.0
_SHOWN = 4


@dataclass(slots=True)
class SignedIn:
    """One signed-in browser; an empty key means signed out."""

    key: str = field(repr=False)
    last_used: float
    theme: str = "auto"
    notes: list[str] = field(default_factory=list)
    """What the next page is to say first: a page that is built anew cannot say it itself."""

    @property
    def masked_key(self) -> str:
        """The key as people may see it: its last four characters."""
        return f"sg_…{self.key[-_SHOWN:]}" if self.key else ""


class SignedInBrowsers:
    """All signed-in browsers, by the token in their signed cookie."""

    def __init__(self, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._browsers: dict[str, SignedIn] = {}

    def sign_in(self, key: str) -> str:
        """Remember a key and return the new token of its browser."""
        self._forget_idle()
        token = secrets.token_urlsafe(32)
        self._browsers[token] = SignedIn(key, self._seconds())
        return token

    def find(self, token: str | None) -> SignedIn | None:
        """Return the browser of a token, None when it is signed out or was idle too long."""
        self._forget_idle()
        found = self._browsers.get(token or "")
        if found is not None:
            found.last_used = self._seconds()
        return found

    def sign_out(self, token: str | None) -> None:
        """Forget a browser's key; its open pages can ask nothing more."""
        found = self._browsers.pop(token or "", None)
        if found is not None:
            found.key = ""

    def _forget_idle(self) -> None:
        now = self._seconds()
        for token, browser in list(self._browsers.items()):
            if now - browser.last_used > _IDLE_S:
                self.sign_out(token)
