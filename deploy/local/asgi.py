"""The applications that the local stack serves; each name here is a factory for uvicorn.

Only `deploy` may import both services.
"""

from __future__ import annotations

from fastapi import FastAPI

from deploy.local.composition import compose
from shared.http.health import release
from shared.settings import get_settings


def app() -> FastAPI:
    """Build both services as one application for one port."""
    return compose([ingest(), retrieval()], title="StrataGate", version=release())


def ingest() -> FastAPI:
    """Build the write edge alone."""
    from ingest.app import create_app  # noqa: PLC0415 - apart, a process loads one service only

    return create_app(get_settings())


def retrieval() -> FastAPI:
    """Build the read side alone."""
    from retrieval.app import create_app  # noqa: PLC0415 - apart, a process loads one only

    return create_app(get_settings())
