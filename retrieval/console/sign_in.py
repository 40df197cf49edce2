"""Signing in and out: plain forms, so that a key travels in a POST body and nowhere else."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from nicegui import ui

from retrieval.console.api_client import ApiClient, ApiPool, ApiProblem
from retrieval.console.brand import LOGO
from retrieval.console.components.text import text
from retrieval.console.navigation import PAGES
from retrieval.console.signed_in import SignedIn, SignedInBrowsers

TOKEN = "browser"  # noqa: S105 - the cookie's field, not a token
_LARGEST_FORM = 4_096
_LONGEST_KEY = 300
_SEE_OTHER = 303
_HINT = (
    "A key with the permission to read. It stays in the console's memory until you sign out, and "
    "is written nowhere."
)
_REASONS = {
    "refused": "This key opens nothing: it is mistyped, revoked, or may not read.",
    "missing": "Enter a key. It begins with sg_.",
    "unreachable": "The API cannot be reached. Try again when it answers.",
    "expired": "You were signed out: the key no longer opens the API, or the browser was idle.",
    "out": "You are signed out.",
}


def add_sign_in(app: FastAPI, browsers: SignedInBrowsers, pool: ApiPool) -> None:
    """Add POST /sign-in and POST /sign-out, and the page that asks for the key."""

    async def sign_in(request: Request) -> Response:
        form = await _form(request)
        wanted = local_page(form.get("next", ""))
        key = form.get("key", "").strip()
        if not key.isascii() or not key or len(key) > _LONGEST_KEY:
            return _ask_again("missing", wanted)
        try:
            await ApiClient(pool, SignedIn(key, 0.0)).get("/v1/namespaces", limit=1)
        except ApiProblem as problem:
            return _ask_again("refused" if problem.status else "unreachable", wanted)
        browsers.sign_out(request.session.get(TOKEN))
        request.session.clear()  # a fresh cookie: one planted before signing in opens nothing
        request.session[TOKEN] = browsers.sign_in(key)
        return RedirectResponse(wanted, status_code=_SEE_OTHER)

    async def sign_out(request: Request) -> Response:
        await _form(request)
        browsers.sign_out(request.session.get(TOKEN))
        request.session.clear()
        return RedirectResponse("/sign-in?reason=out", status_code=_SEE_OTHER)

    # The page first: NiceGUI takes away whatever stood at a page's address before it.
    ui.page("/sign-in", title="Sign in · StrataGate")(_sign_in_page)
    app.post("/sign-in", include_in_schema=False)(sign_in)
    app.post("/sign-out", include_in_schema=False)(sign_out)


def local_page(wanted: str) -> str:
    """Return where to go after signing in: a page of this console, never another address."""
    parts = urlsplit(wanted)
    slug = parts.path.removeprefix("/")
    if parts.scheme or parts.netloc or slug not in {entry.slug for entry in PAGES}:
        return "/overview"
    return f"/{slug}?{parts.query}" if parts.query else f"/{slug}"


async def _sign_in_page(request: Request) -> None:
    reason = _REASONS.get(request.query_params.get("reason", ""), "")
    is_error = reason and request.query_params.get("reason") != "out"
    ui.dark_mode(None)
    with ui.element("div").classes("sg-sign-in"), ui.element("div").classes("sg-sign-in-card"):
        ui.html(LOGO, sanitize=False).classes("sg-logo-large").props("aria-hidden=true")
        text("StrataGate", "h1")
        text("Look into the memory of your agents.", "p", classes="sg-muted")
        if reason:
            tone = "sg-notice-bad" if is_error else "sg-notice-info"
            text(reason, "p", classes=f"sg-notice {tone}").props("role=alert")
        with ui.element("form").props("method=post action=/sign-in autocomplete=off"):
            wanted = local_page(request.query_params.get("next", ""))
            ui.element("input").props("type=hidden name=next").props["value"] = wanted
            text("API key", "label").props("for=key")
            ui.element("input").props(
                "id=key name=key type=password autocomplete=off spellcheck=false required "
                'autofocus placeholder="sg_…" aria-describedby=key-hint'
            ).classes("sg-input")
            text(_HINT, "p", classes="sg-hint").props("id=key-hint")
            with ui.element("button").props("type=submit").classes("sg-button sg-button-main"):
                text("Sign in")


def _ask_again(reason: str, wanted: str) -> Response:
    query = urlencode({"reason": reason, "next": wanted})
    return RedirectResponse(f"/sign-in?{query}", status_code=_SEE_OTHER)


async def _form(request: Request) -> dict[str, str]:
    """Read a small form that this console's own pages sent; anything else is empty."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        return {}
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_FORM:
            return {}
    fields = parse_qs(body.decode("utf-8", errors="replace"))
    return {name: values[0] for name, values in fields.items()}
