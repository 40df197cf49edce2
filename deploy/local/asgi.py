"""Both services as one ASGI application with one OpenAPI document; only `deploy` may do this.

Each service keeps its own middleware, error handlers and lifespan: a request goes, whole, to
the one whose routes know its path. Paths that both have (health, metrics) go to ingest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

_PARTS = ("schemas", "responses", "parameters", "securitySchemes")


def app() -> FastAPI:
    """Build the application with both services, for one port."""
    return compose([ingest(), retrieval()])


def ingest() -> FastAPI:
    """Build the write edge alone."""
    from ingest.app import create_app  # noqa: PLC0415 - apart, a process loads one service only

    from shared.settings import get_settings  # noqa: PLC0415

    return create_app(get_settings())


def retrieval() -> FastAPI:
    """Build the read side alone."""
    from retrieval.app import create_app  # noqa: PLC0415 - apart, a process loads one service

    from shared.settings import get_settings  # noqa: PLC0415

    return create_app(get_settings())
