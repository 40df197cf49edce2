"""A query's own vector within its time budget: what is late drops out, never the search.

Threads of their own do the work, so that a slow model holds no request and no transaction.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from typing import Any, Final

from shared.embeddings.packed import cosines, pack
from shared.embeddings.port import Embedder, EmbeddingError
from shared.embeddings.registry import embedder_of, is_on
from shared.logs import get_logger
from shared.settings import Settings

TIME_BUDGET: Final = "time_budget"
BROKEN: Final = "embedder_broke"

_THREADS: Final = 2
_WAITING: Final = 16
"""How many queries may wait for a thread; further ones drop out at once."""

_REMEMBERED: Final = 256
_BUDGETS_A_CALL: Final = 4
"""A call that is late is let go on for so many budgets: its answer helps the next one."""

_SHORTEST_CALL_S: Final = 1.0
_WARMING: Final = "What was said?"
_WARMING_S: Final = 10.0
_LATE_IN_A_ROW: Final = 3
_PAUSE_S: Final = 5.0
"""After so many late or failed queries in a row nobody waits for the next ones for a while."""

_NAMES: Final = tuple(sorted(n for n in Settings.model_fields if n.startswith("embeddings_")))
_log = get_logger("embeddings")


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's packed vector with the name of its model, or why there is none.

    `why_none` is a stable code: `time_budget`, or that of an EmbeddingError. `scan_rows` is how
    many stored vectors it may be compared with.
    """

    model: str
    dimension: int
    packed: bytes | None
    why_none: str | None = None
    scan_rows: int = 100_000


class QueryEmbedder:
    """Embeds queries for one process; the last ones are remembered by their hash."""

    def __init__(
        self, settings: Settings, *, embedder: Callable[[Settings], Embedder] = embedder_of
    ) -> None:
        self._settings = settings
        self._embedder = embedder
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="query-vectors")
        self._waiting = threading.BoundedSemaphore(_WAITING)
        self._known: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._late = 0
        self._paused_until = 0.0
        self._wrong: EmbeddingError | None = None
        self._has_worked = False

    def vector_of(self, query: str) -> QueryVector | None:
        """Return a query's vector, or why it has none; None where vectors are switched off.

        Never raises and never waits longer than the budget.
        """
        if not is_on(self._settings) or not query.strip():
            return None
        try:
            embedder = self._embedder(self._settings)
        except EmbeddingError as error:
            return QueryVector("", 0, None, error.code)
        key = hashlib.sha256(f"{embedder.model}\0{query}".encode("utf-8", "replace")).digest()
        packed, why = self._remembered(key), None
        if packed is None:
            packed, why = self._made(embedder, query, key)
        rows = self._settings.embeddings_scan_rows
        return QueryVector(embedder.model, embedder.dimension, packed, why, rows)

    def warm_up(self) -> None:
        """Begin to load the model, so that the first query does not pay for it."""
        if is_on(self._settings):
            self._pool.submit(self._load)

    def close(self) -> None:
        """Let no more work begin."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def known_state(self) -> dict[str, Any] | None:
        """Return what this process knows of its model, None where vectors are off; loads nothing.

        `ok` is None where it was neither warmed up nor asked yet.
        """
        if not is_on(self._settings):
            return None
        provider = {"provider": self._settings.embeddings_provider}
        try:
            embedder = self._embedder(self._settings)
        except EmbeddingError as error:
            return {"ok": False, **provider, "detail": f"{error.code}: {error.detail}"}
        named = {**provider, "model": embedder.model, "dimension": embedder.dimension}
        if self._wrong is not None:
            return {"ok": False, **named, "detail": f"{self._wrong.code}: {self._wrong.detail}"}
        return {"ok": True if self._has_worked else None, **named}

    def _made(self, embedder: Embedder, query: str, key: bytes) -> tuple[bytes | None, str | None]:
        if time.monotonic() < self._paused_until or not self._waiting.acquire(blocking=False):
            return None, TIME_BUDGET
        work: Future[bytes] = self._pool.submit(self._embedded, embedder, query, key)
        work.add_done_callback(lambda _: self._waiting.release())
        try:
            packed = work.result(timeout=self._budget_s)
        except LateError:
            work.cancel()
            self._note_late()
            return None, TIME_BUDGET
        except EmbeddingError as error:
            _log.warning("query_without_vector", code=error.code)
            self._note_late()
            self._wrong = error
            return None, error.code
        except Exception as error:  # noqa: BLE001 - a lane may break, the search may not
            _log.error("query_without_vector", code=BROKEN, error=type(error).__name__)
            return None, BROKEN
        self._late, self._wrong, self._has_worked = 0, None, True
        return packed, None

    def _note_late(self) -> None:
        self._late += 1
        if self._late >= _LATE_IN_A_ROW:
            self._late = 0
            self._paused_until = time.monotonic() + _PAUSE_S

    @property
    def _budget_s(self) -> float:
        return self._settings.embeddings_query_budget_ms / 1000

    def _embedded(self, embedder: Embedder, query: str, key: bytes) -> bytes:
        longest_s = max(_SHORTEST_CALL_S, _BUDGETS_A_CALL * self._budget_s)
        vector = embedder.query(query, timeout_s=longest_s)
        packed = pack(vector, dimension=embedder.dimension)
        with self._lock:
            self._known[key] = packed
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return packed

    def _remembered(self, key: bytes) -> bytes | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def _load(self) -> None:
        cosines(bytes(8), b"")  # loads what compares vectors, too
        try:
            embedder = self._embedder(self._settings)
            embedder.load()
            embedder.query(_WARMING, timeout_s=_WARMING_S)
        except EmbeddingError as error:
            self._wrong = error
            _log.error("embedder_unusable", code=error.code, detail=error.detail)
        else:
            self._has_worked = True


_made: dict[tuple[object, ...], QueryEmbedder] = {}
_making = threading.Lock()


def query_embedder_of(settings: Settings) -> QueryEmbedder:
    """Return this process's embedder of queries for these settings, built anew after a fork."""
    key = (os.getpid(), *(getattr(settings, name) for name in _NAMES))
    with _making:
        if key not in _made:
            _made[key] = QueryEmbedder(settings)
        return _made[key]
