"""The retrieval service: search, expand, gate and receipts; it never calls a language model."""

from __future__ import annotations

from fastapi import FastAPI

from retrieval.mcp import endpoint
from retrieval.routes import router
from shared.http.application import build_app
from shared.settings import Settings, get_settings


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the service's ASGI application; without settings, those of the environment."""
    return build_app(
        settings or get_settings(),
        "StrataGate retrieval",
        [router, endpoint.router],
        lifespans=[endpoint.serving],
    )
