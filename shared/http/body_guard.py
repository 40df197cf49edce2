"""Bodies are read whole, bounded and checked before any route sees them."""

from __future__ import annotations

import re

from anyio import to_thread
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.errors import StrataGateError, TooLarge, WrongMediaType
from shared.http import strict_json
from shared.http.content_encoding import inflate, is_compressed
from shared.http.problems import problem_response

ITEM_BY_ITEM = re.compile(r"/v1/namespaces/[^/]+/turns/batch\Z")
"""The paths whose body is a list that their route checks item by item."""

PACKED = re.compile(r"/v1/namespaces/[^/]+/restore\Z")
"""The paths whose body is a file that their route unpacks and checks itself.

Whole paths: by their ends alone, a namespace called `batch` would go unchecked.
"""

_IN_THREAD_BYTES = 65_536
_WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class ClientGone(Exception):
    """The client hung up before its request was whole; nothing was done."""


class BodyGuard:
    """Refuses bodies over `limit_bytes` (413), of another type (415), and unsafe JSON (422).

    A gzip body is inflated, within the same limit. A packed file has a limit of its own.
    """

    def __init__(self, app: ASGIApp, limit_bytes: int, packed_limit_bytes: int = 0) -> None:
        self.app = app
        self.limit_bytes = limit_bytes
        self.packed_limit_bytes = packed_limit_bytes or limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] not in _WRITING:
            await self.app(scope, receive, send)
            return
        try:
            if PACKED.search(scope["path"]):
                body = await self._read(scope, receive, self.packed_limit_bytes)
                await self.app(scope, _replay(body, receive), send)
                return
            body = await self._read(scope, receive, self.limit_bytes)
            encoding = (_header(scope, b"content-encoding") or b"").decode("latin-1")
            if is_compressed(encoding):
                body = await to_thread.run_sync(self._inflate, body)
                _say_plain(scope, body)
            if body and not ITEM_BY_ITEM.search(scope["path"]):
                _require_json(scope)
                await _check(body)
        except StrataGateError as error:
            request_id = scope["state"]["request_id"]
            await problem_response(error, request_id)(scope, receive, send)
            return
        except ClientGone:
            return
        await self.app(scope, _replay(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive, limit_bytes: int) -> bytes:
        if int(_header(scope, b"content-length") or 0) > limit_bytes:
            raise _too_large(limit_bytes)
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit_bytes:
                raise _too_large(limit_bytes)
            more = message.get("more_body", False)
        return b"".join(parts)

    def _inflate(self, body: bytes) -> bytes:
        return inflate(body, limit_bytes=self.limit_bytes)


def _too_large(limit_bytes: int) -> TooLarge:
    return TooLarge(f"a body may have {limit_bytes} bytes; send it in parts")


async def _check(body: bytes) -> None:
    text = strict_json.decode(body)
    if len(body) > _IN_THREAD_BYTES:
        await to_thread.run_sync(strict_json.parse, text)
    else:
        strict_json.parse(text)


def _require_json(scope: Scope) -> None:
    """A body without a Content-Type is taken as JSON; one that says otherwise is not guessed at."""
    kind = (_header(scope, b"content-type") or b"application/json").partition(b";")[0].strip()
    if kind.lower() != b"application/json" and not kind.lower().endswith(b"+json"):
        raise WrongMediaType("send the body as JSON, with Content-Type: application/json")


def _header(scope: Scope, name: bytes) -> bytes | None:
    found: bytes | None = next((value for key, value in scope["headers"] if key == name), None)
    if name == b"content-length" and found is not None and not found.isdigit():
        return None
    return found


def _say_plain(scope: Scope, body: bytes) -> None:
    """Let the headers tell of the inflated body; in place, for the layers around look here too."""
    told = (b"content-encoding", b"content-length")
    kept = [(key, value) for key, value in scope["headers"] if key not in told]
    scope["headers"] = [*kept, (b"content-length", str(len(body)).encode())]


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand the body over once more; then whatever comes, such as the client going away."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again
