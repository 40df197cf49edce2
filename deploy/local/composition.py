"""Several FastAPI services behind one port and one OpenAPI document.

Each service keeps its own middleware, error handlers and lifespan: a request goes, whole, to
the first service whose routes know it. A path that several have (health) is the first one's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from deploy.local.openapi_merge import merge_documents


def compose(services: Sequence[FastAPI], *, title: str, version: str) -> FastAPI:
    """Return one application that answers for all services; the earlier one wins a tie."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for service in services:
                await stack.enter_async_context(service.router.lifespan_context(service))
            yield

    # No routes of its own, so that each request, known or not, is answered in a service's form;
    # not a mount either, whose pattern does not match a path with a line break.
    outer = FastAPI(title=title, version=version, lifespan=lifespan, openapi_url=None)
    outer.router.default = _Dispatcher(services)
    parts = [service.openapi for service in services]
    document: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not document:
            document.update(merge_documents([part() for part in parts]))
            document["info"] = {"title": title, "version": version}
        return document

    # The first service shows the document, and the page made of it, of the whole.
    for app in (outer, services[0]):
        app.openapi = openapi  # type: ignore[method-assign] # the documented way to replace it
    return outer


class _Dispatcher:
    """Hands each request to the service that knows its path and method, else its path."""

    def __init__(self, services: Sequence[FastAPI]) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._choose(scope)(scope, receive, send)

    def _choose(self, scope: Scope) -> FastAPI:
        knows_path = None
        for service in self._services:
            matches = {route.matches(scope)[0] for route in service.router.routes}
            if Match.FULL in matches:
                return service
            if Match.PARTIAL in matches:
                knows_path = knows_path or service
        return knows_path or self._services[0]
