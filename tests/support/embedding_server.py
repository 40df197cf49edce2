"""An HTTP server that speaks OpenAI's embeddings, with the vectors of `concept_embedder`.

`play` lets it answer otherwise: with a status, late, by drips, or with what is no vector.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.concept_embedder import concept_vector

DIMENSION = 24
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Played:
    """An answer: its status, headers and body; `after_s` later, or `drips` byte by byte."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float = 0.0
    drips: bool = False


Play = Callable[[dict[str, Any]], Played]


def vectors_of(request: dict[str, Any]) -> Played:
    """Answer as a good endpoint does, in an order of its own."""
    data = [
        {"object": "embedding", "index": i, "embedding": concept_vector(text, DIMENSION)}
        for i, text in enumerate(request["input"])
    ]
    return Played({"object": "list", "data": data[::-1], "model": request["model"]})


class EmbeddingServer:
    """The server, on a thread of its own: `with EmbeddingServer() as server: server.url`."""

    def __init__(self) -> None:
        self.play: Play = vectors_of
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                request = json.loads(self.rfile.read(length))
                owner.requests.append(request)
                owner.headers.append({k.lower(): v for k, v in self.headers.items()})
                _answer(self, owner.play(request))

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL, with /v1."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> EmbeddingServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def _answer(handler: BaseHTTPRequestHandler, played: Played) -> None:
    time.sleep(played.after_s)
    content = played.body if isinstance(played.body, bytes) else json.dumps(played.body).encode()
    try:
        handler.send_response(played.status)
        for name, value in played.headers.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        if not played.drips:
            handler.wfile.write(content)
            return
        for byte in content:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(_PAUSE_S)
    except OSError:
        return  # the client has gone: that is what some tests are about
