"""Replies kept in a folder by the hash of their request, so that nothing is paid for twice.

A reply is one file, written whole or not at all; failures are not kept.
"""

from __future__ import annotations

import os
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from workers.evaluation.answering.chat import ChatModel, ChatReply, ChatRequest


@dataclass(slots=True)
class KeptReplies:
    """A model that is only asked what it was not asked before. `reused` counts what was kept."""

    model: ChatModel
    folder: Path
    reused: int = 0
    asked: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """Name of the model behind."""
        return self.model.name

    def ask(self, request: ChatRequest) -> ChatReply:
        """Answer from the folder, else by the model; kept seconds and tokens are the first ones."""
        key = request.key(self.name)
        path = self.folder / key[:2] / f"{key}.json"
        kept = _read(path)
        with self._lock:
            self.reused += kept is not None
            self.asked += kept is None
        if kept is not None:
            return kept
        reply = self.model.ask(request)
        if reply.error is None:
            _write(path, reply)
        return reply


def _read(path: Path) -> ChatReply | None:
    try:
        return ChatReply(**orjson.loads(path.read_bytes()))
    except FileNotFoundError:
        return None


def _write(path: Path, reply: ChatReply) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    fresh.write_bytes(orjson.dumps(asdict(reply)))
    fresh.replace(path)
