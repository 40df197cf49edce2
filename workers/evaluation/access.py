"""The way of a measuring command to the API: its address and key, from options or settings."""

from __future__ import annotations

from typing import Final

import httpx
import typer

from shared.settings import get_settings

_TIMEOUT_S: Final = 120.0


def api_client(api_url: str | None, api_key: str | None) -> httpx.Client:
    """Return a client of the API; BadParameter where no key is given anywhere."""
    settings = get_settings()
    key = api_key or (settings.api_key.get_secret_value() if settings.api_key else None)
    if key is None:
        raise typer.BadParameter(
            "set STRATAGATE_API_KEY or give --api-key; `python3 -m deploy up` starts a stack "
            "and prints a key"
        )
    return httpx.Client(
        base_url=api_url or settings.api_url,
        headers={"Authorization": f"Bearer {key}"},
        timeout=_TIMEOUT_S,
    )
