"""The retrieval service: search, expand, gate and receipts; it never calls a language model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from retrieval.mcp import endpoint
from retrieval.routes import router
from shared.embeddings.asking import query_embedder_of
from shared.http.application import build_app
from shared.settings import Settings, get_settings


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the service's ASGI application; without settings, those of the environment."""
    return build_app(
        settings or get_settings(),
        "StrataGate retrieval",
        [router, endpoint.router],
        lifespans=[endpoint.serving, warming],
    )


@asynccontextmanager
async def warming(app: FastAPI) -> AsyncIterator[None]:
    """Begin to load the embedding model, if there is one, so that no query pays for it."""
    query_embedder_of(app.state.settings).warm_up()
    yield
