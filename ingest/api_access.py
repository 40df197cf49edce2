"""Where the command line finds the API, and one request to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import httpx
import typer

from ingest.posting import answer_of, open_client
from shared.settings import get_settings

ApiUrl = Annotated[str | None, typer.Option("--api-url", help="Where the API is.")]
ApiKey = Annotated[
    str | None,
    typer.Option("--api-key", help="Better in STRATAGATE_API_KEY: arguments are seen by all."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]


def api_access(api_url: str | None, api_key: str | None) -> tuple[str, str]:
    """Return the API's URL and the key to use: what was given, else what the settings say."""
    settings = get_settings()
    key = api_key or (settings.api_key.get_secret_value() if settings.api_key else None)
    if key is None:
        raise typer.BadParameter("set STRATAGATE_API_KEY or give --api-key")
    return api_url or settings.api_url, key


def client_of(api_url: str | None, api_key: str | None) -> httpx.Client:
    """Return a client of the API; a context manager."""
    return open_client(*api_access(api_url, api_key))


def read(client: httpx.Client, path: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Get one answer; parameters that are None are left out. Raises Refused or Unavailable."""
    given = {name: value for name, value in params.items() if value is not None}
    return answer_of(client, lambda: client.get(path, params=given))
