"""The ingest service on a real server and port, and turns to post to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ingest.app import create_app
from shared.settings import Settings
from tests.support.serving import serving


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """Serve the ingest application on a free port of the loopback; gives its URL."""
    with serving(create_app(settings)) as url:
        yield url


def turn(
    receipt_id: str, said: str = "The greenhouse heater broke.", **fields: Any
) -> dict[str, Any]:
    """A turn of one user and one assistant message."""
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}]
    return {"receipt_id": receipt_id, "messages": messages, **fields}
