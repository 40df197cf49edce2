"""The few words of the broker's protocol that a supervisor needs: is it ours, and please stop."""

from __future__ import annotations

import socket

from deploy.local.ports import LOOPBACK

_TIMEOUT_S = 2.0


def answers(port: int, password: str) -> bool:
    """Tell whether the server with this very password answers there; another's would refuse."""
    return _ask(port, password, "PING") == "+PONG"


def request_shutdown(port: int, password: str) -> bool:
    """Ask the server to save and end; False when it did not answer to the password."""
    return _ask(port, password, "SHUTDOWN") is not None


def _ask(port: int, password: str, command: str) -> str | None:
    """Return the first line of the reply, "" when the server hung up, None when not ours."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=_TIMEOUT_S) as link:
            stream = link.makefile("rwb")
            stream.write(f"AUTH {password}\r\n".encode("ascii"))
            stream.flush()
            if stream.readline().strip() != b"+OK":
                return None
            stream.write(f"{command}\r\n".encode("ascii"))
            stream.flush()
            return stream.readline().strip().decode("utf-8", errors="replace")
    except OSError:
        return None
