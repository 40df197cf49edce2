"""A chat model and a memory of one conversation behind one address, both scripted by a test."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[dict[str, Any]], str]
_SAID = "2026-03-01T10:00:00+00:00"


@dataclass
class StandIn:
    """What is played, and what came in.

    `reply` gives the model's words for a request's body; raising KeyError it refuses. Searches
    show `hits` (labels of messages with their words); an assessment counts as it is given.
    `refuses` is a word that no request to the model may hold.
    """

    reply: Reply
    hits: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    tool_calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    turns: int = 0
    advisories: tuple[str, ...] = ()
    refuses: str = ""
    url: str = ""

    def model(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked.append(request)
        if self.refuses and self.refuses in json.dumps(request):
            return 400, {"error": {"message": f"Unrecognized request argument: {self.refuses}"}}
        try:
            content = self.reply(request)
        except KeyError:
            return 401, {"error": {"message": "no", "code": "invalid_api_key"}}
        message = {"role": "assistant", "content": content}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return 200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    def memory(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if path == "/v1/tools":
            names = ("search_events", "search_raw", "expand_event", "assess", "record_use")
            cards = [{"name": f"memory_{n}", "description": f"Do {n}. And more."} for n in names]
            return 200, {"items": cards, "instructions": "", "next_cursor": None}
        if path.startswith("/v1/tools/"):
            return self._tool(path.rpartition("/")[2], body)
        if path.endswith("/turns/batch"):
            self.turns += len(body)
            return 200, {"items": [{"status": 201} for _ in body]}
        if "/events/" in path:
            label = path.rpartition("_")[2]
            return 200, {"source_messages": [self._message(label)]}
        return 200, {"counts": {"jobs": {}}}

    def _tool(self, name: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        arguments = body["arguments"]
        self.tool_calls.append((name, arguments))
        batch = f"bat_{len(self.tool_calls)}"
        if name == "memory_search_raw":
            items = [
                {"evidence_ref": f"raw:{label}", "message": self._message(label)}
                for label in self.hits
            ]
            return 200, {"batch_id": batch, "items": items, "empty_reason": None}
        if name == "memory_search_events":
            return 200, {"batch_id": batch, "items": [self._event(label) for label in self.hits]}
        if name == "memory_expand_event":
            label = arguments["event_id"].rpartition("_")[2]
            event = {"summary": "All of it", "source_messages": [self._message(label)]}
            return 200, {"batch_id": batch, "event": event, "evidence_ref": f"event:{label}"}
        if name == "memory_assess":
            told = [{"code": "doubt", "message": message} for message in self.advisories]
            verdict = arguments["verdict"]
            counted = verdict if arguments["evidence_refs"] else "partial"
            refs = arguments["evidence_refs"]
            return 200, {"verdict": counted, "evidence_refs": refs, "advisories": told}
        return 200, {}

    def _message(self, label: str) -> dict[str, Any]:
        return {
            "name": "Ada",
            "role": "user",
            "content": self.hits[label],
            "occurred_at": _SAID,
            "metadata": {"dia_id": label},
        }

    def _event(self, label: str) -> dict[str, Any]:
        return {
            "event_id": f"evt_{label}",
            "evidence_ref": f"event:{label}",
            "title": "It happened",
            "summary": self.hits[label],
            "temporal": {
                "mentioned_at": _SAID,
                "happened_start": "2026-02-28T00:00:00+00:00",
                "precision": "day",
            },
        }


@contextmanager
def standing_in(stand_in: StandIn) -> Iterator[StandIn]:
    """Serve a stand-in on a free port of the loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            body: Any = json.loads(raw) if raw else None
            if self.path.endswith("/chat/completions"):
                self._send(*stand_in.model(body))
            else:
                self._send(*stand_in.memory(self.path, body))

        do_GET = do_PUT = do_POST  # noqa: N815 - the names that the base class calls

        def log_message(self, *_args: Any) -> None:
            """Keep quiet."""

        def _send(self, status: int, body: dict[str, Any]) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    stand_in.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
