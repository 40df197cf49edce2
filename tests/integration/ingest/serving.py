"""The ingest service on a real server and port, and turns to post to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from ingest.app import create_app
from shared.settings import Settings


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """Serve the ingest application on a free port of the loopback; gives its URL."""
    config = uvicorn.Config(create_app(settings), port=0, log_config=None, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


def turn(
    receipt_id: str, said: str = "The greenhouse heater broke.", **fields: Any
) -> dict[str, Any]:
    """A turn of one user and one assistant message."""
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}]
    return {"receipt_id": receipt_id, "messages": messages, **fields}
