"""An HTTP server that speaks OpenAI's chat completions and plays faults on demand.

What it plays is named by the model of the request: `good`, `hang`, `quota` … (see
`fault_plays.PLAYS`), or several with commas, one a request, the last one for good. A script set
by `play()` or `POST /control` holds for a model, or with `*` for all, and goes first. As a
process: `python -m tests.support.fault_server --port 0` prints its URL.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.fault_plays import PLAYS, Answer

_DRIP_PAUSE_S = 0.05
_HANG_S = 600.0


@dataclass(slots=True)
class Script:
    """Which plays follow for which model, and what was asked; shared by the server's threads."""

    plays: dict[str, list[str]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    _played: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def set(self, model: str, plays: list[str]) -> None:
        """Let a model, or `*` for all, play these in turn, the last one for good."""
        unknown = [name for name in plays if name not in PLAYS]
        if unknown or not plays:
            raise ValueError(f"no play is called {unknown}; there are {', '.join(PLAYS)}")
        with self._lock:
            self.plays[model] = list(plays)
            self._played.clear()

    def next(self, request: dict[str, Any], headers: dict[str, str]) -> str:
        """Note a request and return the name of the play that answers it."""
        model = str(request.get("model", ""))
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            plays = self.plays.get(model) or self.plays.get("*") or model.split(",")
            index = self._played.get(model, 0)
            self._played[model] = index + 1
        return plays[min(index, len(plays) - 1)]

    def clear(self) -> None:
        """Forget scripts and requests."""
        with self._lock:
            self.plays.clear()
            self._played.clear()
            self.requests.clear()
            self.headers.clear()


class FaultServer:
    """The server, on a thread of its own; `with FaultServer() as server: server.url`."""

    def __init__(self, port: int = 0) -> None:
        self.script = Script()
        self._is_over = threading.Event()
        script, is_over = self.script, self._is_over

        class Handler(_Handler):
            pass

        Handler.script, Handler.is_over = script, is_over
        self._http = _Quiet(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """Return the base URL, with /v1."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def play(self, *plays: str, model: str = "*") -> None:
        """Play these in turn, the last one for good."""
        self.script.set(model, list(plays))

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return the bodies of all requests so far."""
        return list(self.script.requests)

    def start(self) -> FaultServer:
        """Begin to answer."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Answer no more and wake whoever hangs."""
        self._is_over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    def __enter__(self) -> FaultServer:
        return self.start()

    def __exit__(self, *_error: object) -> None:
        self.stop()


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: most faults end in a broken connection."""


class _Handler(BaseHTTPRequestHandler):
    script: Script
    is_over: threading.Event
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path != "/control":
            self._whole(Answer(404, b"{}"))
            return
        told = {"plays": sorted(PLAYS), "requests": len(self.script.requests)}
        self._whole(Answer(200, json.dumps(told).encode()))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        if self.path == "/control":
            self._control(body)
        elif self.path.endswith("/chat/completions"):
            self._play(body)
        else:
            self._whole(Answer(404, b"{}"))

    def do_DELETE(self) -> None:
        self.script.clear()
        self._whole(Answer(200, b"{}"))

    def log_message(self, *_args: Any) -> None:
        """Keep quiet."""

    def _control(self, body: dict[str, Any]) -> None:
        try:
            self.script.set(str(body.get("model", "*")), list(body["play"]))
        except (ValueError, KeyError) as error:
            self._whole(Answer(400, json.dumps({"error": str(error)}).encode()))
            return
        self._whole(Answer(200, b"{}"))

    def _play(self, request: dict[str, Any]) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        name = self.script.next(request, headers)
        play = PLAYS.get(name)
        if play is None:
            answer = Answer(404, b'{"error": {"code": "model_not_found"}}')
        else:
            answer = play(request)
        self.close_connection = True
        # The other side may well have gone: that is what these plays are about.
        with suppress(OSError):
            getattr(self, f"_{answer.sending}")(answer)

    def _whole(self, answer: Answer) -> None:
        self._head(answer)
        self.wfile.write(answer.body)

    def _head(self, answer: Answer) -> None:
        # `date` is ours to choose: a skewed provider's clock is a play as well.
        headers = {"content-type": "application/json", **answer.headers}
        self.send_response_only(answer.status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(answer.body)))
        self.send_header("connection", "close")
        self.end_headers()

    def _hang(self, _answer: Answer) -> None:
        self.is_over.wait(_HANG_S)

    def _drip_body(self, answer: Answer) -> None:
        self._head(answer)
        self._drip(answer.body)

    def _drip_headers(self, _answer: Answer) -> None:
        self._drip(b"HTTP/1.1 200 OK\r\nx-slow: " + b"z" * 20_000)

    def _drip(self, data: bytes) -> None:
        for at in range(len(data)):
            self.wfile.write(data[at : at + 1])
            if self.is_over.wait(_DRIP_PAUSE_S):
                return

    def _reset(self, _answer: Answer) -> None:
        # With a linger of 0 s closing sends a reset instead of a farewell.
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def _short(self, answer: Answer) -> None:
        self._head(answer)
        self.wfile.write(answer.body[: len(answer.body) // 2])


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description="Play faults of a model's provider.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--play", nargs="*", help="what every model plays, the last one for good")
    options = parser.parse_args()
    with FaultServer(options.port) as server:
        if options.play:
            server.play(*options.play)
        print(server.url, flush=True)  # noqa: T201 - the process's one line of output
        threading.Event().wait()


if __name__ == "__main__":
    main()
