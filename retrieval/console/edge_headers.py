"""The headers of every answer: browsers may load from this process alone, and frame nothing.

The policy is what makes "no request leaves the machine" hold, whatever a text of a page contains.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# NiceGUI starts pages from inline scripts and lets Vue compile templates: hence both 'unsafe-…'.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class EdgeHeaders:
    """ASGI middleware that adds the headers; pages themselves are never kept by caches."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, with the headers on each answer's start."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = list(message.get("headers", ()))
                sent += _HEADERS
                if not any(name.lower() == b"cache-control" for name, _ in sent):
                    sent.append((b"cache-control", b"no-store"))
                message["headers"] = sent
            await send(message)

        await self._app(scope, receive, with_headers)
