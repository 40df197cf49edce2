"""Compressed request bodies: inflated within the limit of a body, whatever they promise."""

from __future__ import annotations

import zlib

from shared.errors import InvalidInput, TooLarge, WrongMediaType

_GZIP = frozenset({"gzip", "x-gzip"})
_PLAIN = frozenset({"", "identity"})
_GZIP_FRAME = 16 + zlib.MAX_WBITS


def is_compressed(encoding: str) -> bool:
    """Tell whether a Content-Encoding asks for inflating.

    Raises WrongMediaType (`unsupported_encoding`) for one that is not known.
    """
    name = encoding.strip().lower()
    if name not in _GZIP | _PLAIN:
        raise WrongMediaType(
            "send the body as it is, or with Content-Encoding: gzip", code="unsupported_encoding"
        )
    return name in _GZIP


def inflate(body: bytes, *, limit_bytes: int) -> bytes:
    """Return what a gzip body holds; nothing beyond the limit is ever made.

    Raises TooLarge for more than `limit_bytes`, InvalidInput (`invalid_encoding`) for what is no
    gzip or breaks off.
    """
    parts: list[bytes] = []
    left, rest = limit_bytes, body
    # A body may hold several members one behind the other, as `cat a.gz b.gz` makes them.
    while rest:
        member = zlib.decompressobj(_GZIP_FRAME)
        try:
            parts.append(member.decompress(rest, left + 1))
        except zlib.error as error:
            raise _invalid() from error
        left -= len(parts[-1])
        if left < 0:
            raise TooLarge(f"a body may have {limit_bytes} bytes when it is inflated")
        if not member.eof:
            raise _invalid()
        rest = member.unused_data
    return b"".join(parts)


def _invalid() -> InvalidInput:
    return InvalidInput("the body is no whole gzip stream", code="invalid_encoding")
