"""The headers by which browsers are told to guess nothing, frame nothing and keep nothing."""

from __future__ import annotations

from collections.abc import Iterable

Header = tuple[bytes, bytes]
_JSON = (b"application/json", b"application/problem+json")
_API = ("/v1", "/mcp")
# What the API answers is data: nothing of it may ever run, or be shown within another page.
_DATA_POLICY = b"default-src 'none'; frame-ancestors 'none'"


def security_headers(path: str, sent: Iterable[Header], *, hsts_max_age_s: int) -> list[Header]:
    """Return the headers to add to an answer; what its route has set itself stays."""
    present = {name.lower(): value for name, value in sent}
    wanted: list[Header] = [
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]
    if path.startswith(_API):
        wanted.append((b"cache-control", b"no-store"))
    if present.get(b"content-type", b"").partition(b";")[0] in _JSON:
        wanted.append((b"content-security-policy", _DATA_POLICY))
    if hsts_max_age_s:
        value = f"max-age={hsts_max_age_s}; includeSubDomains"
        wanted.append((b"strict-transport-security", value.encode()))
    return [(name, value) for name, value in wanted if name not in present]
