"""The console's application: sign-in, one route a page, health, and assets from this process alone.

`create_app` builds it from settings; `run` serves it until stopped. A page is given its
PageContext after namespaces and threads were asked for: two queries before its own.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from nicegui import app as pages_app
from nicegui import ui

from retrieval.console.api_client import ApiClient, ApiPool, ApiProblem
from retrieval.console.brand import FAVICON
from retrieval.console.components.states import empty_state, error_state
from retrieval.console.edge_headers import EdgeHeaders
from retrieval.console.layout import framed
from retrieval.console.navigation import PAGES, PageEntry
from retrieval.console.page_context import PageContext
from retrieval.console.pages import (
    ask,
    graph,
    imports,
    overview,
    settings_page,
    short_term,
    timeline,
    usage_audit,
)
from retrieval.console.sign_in import TOKEN, add_sign_in
from retrieval.console.signed_in import SignedIn, SignedInBrowsers
from shared.logs import configure_logs_once
from shared.settings import Settings, get_settings

Render = Callable[[PageContext], Awaitable[None]]
_ASSETS = Path(__file__).parent / "assets"
_STYLES = ("console.css", "memory.css", "explore.css")
_NAMES_SHOWN = 200
_BUILD_S = 60.0
_COOKIE = "stratagate_console"
_RENDER: Mapping[str, Render] = {
    "overview": overview.render,
    "short-term": short_term.render,
    "timeline": timeline.render,
    "graph": graph.render,
    "ask": ask.render,
    "usage-audit": usage_audit.render,
    "import": imports.render,
    "settings": settings_page.render,
}


def create_app(settings: Settings) -> FastAPI:
    """Return the console as an ASGI application; once a process, as NiceGUI is one."""
    ingest_url = settings.console_api_url or settings.api_url
    pool = ApiPool(
        ingest_url=ingest_url, retrieval_url=settings.console_retrieval_url or ingest_url
    )
    browsers = SignedInBrowsers()

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await pool.close()

    app = FastAPI(title="StrataGate console", lifespan=lifespan, openapi_url=None)
    _add_health(app, pool)
    pages_app.add_static_files("/assets", _ASSETS, max_cache_age=0)
    for style in _STYLES:
        ui.add_head_html(f'<link rel="stylesheet" href="/assets/{style}">', shared=True)
    add_sign_in(pages_app, browsers, pool)
    for entry in PAGES:
        _add_page(entry, browsers, pool)
    pages_app.get("/", include_in_schema=False)(_to_overview)
    secret = settings.console_storage_secret
    ui.run_with(
        app,
        title="StrataGate",
        favicon=FAVICON,
        dark=None,
        language="en-US",
        tailwind=False,
        storage_secret=secret.get_secret_value() if secret else secrets.token_urlsafe(32),
        session_middleware_kwargs={
            "session_cookie": _COOKIE,
            "same_site": "lax",
            "https_only": settings.console_secure_cookie,
            "max_age": None,  # gone with the browser
        },
        show_welcome_message=False,
    )
    app.add_middleware(EdgeHeaders)
    return app


def run(settings: Settings | None = None) -> None:
    """Serve the console until stopped."""
    settings = settings or get_settings()
    configure_logs_once(settings.log_format, settings.log_level)
    # It tells every socket that opens and closes: a page each, and of no use to anybody.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    uvicorn.run(
        create_app(settings),
        host=settings.console_host,
        port=settings.console_port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )


def _add_page(entry: PageEntry, browsers: SignedInBrowsers, pool: ApiPool) -> None:
    async def build(request: Request) -> Response | None:
        signed_in = browsers.find(request.session.get(TOKEN))
        if signed_in is None:
            return _to_sign_in(request, "")
        try:
            await _build(entry, request, ApiClient(pool, signed_in), signed_in)
        except ApiProblem as problem:
            if not problem.is_signed_out:
                raise
            browsers.sign_out(request.session.get(TOKEN))
            return _to_sign_in(request, "expired")
        return None

    title = f"{entry.title} · StrataGate"
    ui.page(f"/{entry.slug}", title=title, response_timeout=_BUILD_S)(build)


async def _build(entry: PageEntry, request: Request, api: ApiClient, signed_in: SignedIn) -> None:
    query = dict(request.query_params)
    wanted, thread = query.pop("namespace", None), query.get("thread")
    problem: ApiProblem | None = None
    names: list[str] = []
    threads: list[dict[str, Any]] = []
    try:
        found = await api.get("/v1/namespaces", limit=_NAMES_SHOWN)
        names = [str(one["namespace"]) for one in found["items"]]
        wanted = wanted or (names[0] if names else None)
        if wanted:
            path = f"/v1/retrieval/{quote(wanted, safe='')}/threads"
            threads = (await api.get(path, limit=_NAMES_SHOWN))["items"]
    except ApiProblem as found_problem:
        problem = found_problem
    latest = max(threads, key=lambda one: str(one["last_turn_at"] or ""), default=None)
    page = PageContext(
        entry=entry,
        api=api,
        namespace=wanted,
        thread=thread or (str(latest["thread_id"]) if latest else None),
        threads=tuple(threads),
        query=query,
        notes=signed_in.notes,
    )
    if problem is not None and problem.is_signed_out:
        raise problem
    with framed(page, signed_in, names):
        if problem is not None:
            error_state(problem)
        elif page.namespace is None:
            empty_state(
                "There is no memory yet",
                "A namespace begins with its first turn: post one to /v1/namespaces/{ns}/turns, "
                "or run `python3 -m deploy demo`.",
            )
        else:
            await _rendered(page)


async def _rendered(page: PageContext) -> None:
    """Render a page; what the API refused is told in its place."""
    try:
        await _RENDER[page.entry.slug](page)
    except ApiProblem as problem:
        if problem.is_signed_out:
            raise
        error_state(problem)


def _to_sign_in(request: Request, reason: str) -> Response:
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    given = {"reason": reason, "next": address}
    query = urlencode({name: value for name, value in given.items() if value})
    return RedirectResponse(f"/sign-in?{query}", status_code=303)


async def _to_overview() -> Response:
    return RedirectResponse("/overview", status_code=303)


def _add_health(app: FastAPI, pool: ApiPool) -> None:
    async def live() -> dict[str, str]:
        return {"status": "live"}

    async def ready() -> JSONResponse:
        """Tell whether the API answers: without it there is nothing to show."""
        try:
            answer = await pool.http.get(pool.url_of("/health/live"), timeout=2.0)
            answers = answer.is_success
        except httpx.HTTPError:
            answers = False
        state = "ready" if answers else "not_ready"
        return JSONResponse({"status": state, "api": answers}, 200 if answers else 503)

    app.get("/health/live")(live)
    app.get("/health/ready")(ready)
