"""The retrieval service: search, expand, gate and receipts; it never calls a language model."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI

from retrieval.mcp import endpoint
from retrieval.routes import router
from shared.embeddings.asking import query_embedder_of
from shared.http.application import build_app
from shared.settings import Settings, get_settings

_GARBAGE: Final = (20_000, 20, 50)
"""After how many new objects garbage is looked for, and how often among older ones: a search makes
some thousands that need no looking for."""


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the service's ASGI application; without settings, those of the environment."""
    return build_app(
        settings or get_settings(),
        "StrataGate retrieval",
        [router, endpoint.router],
        lifespans=[endpoint.serving, warming, settling],
    )


@asynccontextmanager
async def warming(app: FastAPI) -> AsyncIterator[None]:
    """Begin to load the embedding model, if there is one, so that no query pays for it."""
    query_embedder_of(app.state.settings).warm_up()
    yield


@asynccontextmanager
async def settling(_app: FastAPI) -> AsyncIterator[None]:
    """Leave what was loaded by now out of the search for garbage."""
    settle()
    yield


def settle() -> None:
    """Keep the process's lasting objects out of garbage collections, once.

    There are some hundred thousand, and to look through them halts every request under way for a
    tenth of a second.
    """
    if gc.get_freeze_count():
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
