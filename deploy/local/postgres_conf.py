"""The configuration of an embedded Postgres, rewritten at each start beside its own file."""

from __future__ import annotations

from pathlib import Path

from deploy.local.ports import LOOPBACK
from deploy.local.postgres_home import PostgresHome

FILE_NAME = "stratagate.conf"
_INCLUDE = f"include = '{FILE_NAME}'"

_ALWAYS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
}
# synchronous_commit stays on: without fsync it costs little, and a killed server keeps its rows.
# The benchmarks ask when a block became ready for others to see.
_FOR_TESTS = {"fsync": "off", "full_page_writes": "off", "track_commit_timestamp": "on"}


def settings(sockets: Path, port: int, *, for_tests: bool) -> dict[str, str]:
    """Return the server's settings; only `for_tests` gives durability up."""
    own = {"port": str(port), "unix_socket_directories": str(sockets)}
    return _ALWAYS | own | (_FOR_TESTS if for_tests else {})


def render(values: dict[str, str]) -> str:
    """Write settings as Postgres reads them, quotes doubled."""
    lines = [f"{name} = '{value.replace(chr(39), chr(39) * 2)}'" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def write_configuration(home: PostgresHome, port: int, *, for_tests: bool) -> None:
    """Put our settings into the cluster and have its main file include them last."""
    own = home.cluster / FILE_NAME
    own.write_text(render(settings(home.sockets, port, for_tests=for_tests)), encoding="utf-8")
    home.give_away(own)
    main = home.cluster / "postgresql.conf"
    text = main.read_text(encoding="utf-8")
    if _INCLUDE not in text:
        main.write_text(f"{text.rstrip()}\n{_INCLUDE}\n", encoding="utf-8")
