"""Loopback ports: found below the range that outgoing connections use, so that a server that
restarts finds its port again."""

from __future__ import annotations

import secrets
import socket

from deploy.local.faults import PortTaken

LOOPBACK = "127.0.0.1"
_LOWEST = 20_000
_HIGHEST = 29_999
_TRIES = 200


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose last connections are still fading away is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port(*, preferred: int | None = None) -> int:
    """Return `preferred` if it is free, else a random free port from 20000 to 29999.

    Random rather than the first free one, so that servers starting side by side rarely collide.
    """
    if preferred is not None and is_free(preferred):
        return preferred
    for _ in range(_TRIES):
        port = _LOWEST + secrets.randbelow(_HIGHEST - _LOWEST + 1)
        if is_free(port):
            return port
    raise PortTaken(f"No free port between {_LOWEST} and {_HIGHEST} on {LOOPBACK}.")


def require_free(port: int, *, what_for: str) -> int:
    """Return `port`; raise PortTaken with the remedy when another process listens there."""
    if not is_free(port):
        raise PortTaken(
            f"Port {port}, wanted for {what_for}, is taken by another process. "
            f"Stop that process, or choose another with --port."
        )
    return port
