"""Servers for tests in containers: used only where an engine answers and has, or can pull, the
image; each refusal is a plain None, and the embedded servers are used instead."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

POSTGRES_IMAGE = os.environ.get("STRATAGATE_TEST_POSTGRES_IMAGE", "postgres:18")
VALKEY_IMAGE = os.environ.get("STRATAGATE_TEST_BROKER_IMAGE", "valkey/valkey:9")
SWITCH_VARIABLE = "STRATAGATE_TEST_CONTAINERS"
"""Set to `off`, it has tests use the embedded servers although an engine answers."""
_ENGINE_TIMEOUT_S = 3


@cache
def is_obtainable(image: str) -> bool:
    """Ask the engine for the image, pulling it if it can be had; quick where there is no engine."""
    if not _may_have_engine():
        return False
    import docker  # type: ignore[import-untyped] # noqa: PLC0415 - untyped; slow, rarely needed

    try:
        engine = docker.from_env(timeout=_ENGINE_TIMEOUT_S)
        engine.ping()
    except docker.errors.DockerException:
        return False
    # The run's controller removes the containers; the reaper would need an image of its own.
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    try:
        engine.images.get(image)
    except docker.errors.ImageNotFound:
        try:
            docker.from_env(timeout=120).images.pull(image)
        except docker.errors.DockerException:
            return False
    return True


def _may_have_engine() -> bool:
    """Look for the signs of an engine before its client is loaded, which takes a while."""
    if os.environ.get(SWITCH_VARIABLE) == "off":
        return False
    sockets = (Path("/var/run/docker.sock"), Path.home() / ".docker" / "run" / "docker.sock")
    return bool(os.environ.get("DOCKER_HOST")) or any(path.exists() for path in sockets)


def start_postgres() -> tuple[str, str, str] | None:
    """Start Postgres; return its superuser's URL, its image and its container's id, or None."""
    if not is_obtainable(POSTGRES_IMAGE):
        return None
    from testcontainers.community.postgres import (  # noqa: PLC0415 - slow, rarely needed
        PostgresContainer,
    )

    server = PostgresContainer(
        POSTGRES_IMAGE, username="postgres", dbname="stratagate", driver=None
    )
    server.with_command(
        "-c fsync=off -c full_page_writes=off -c max_connections=200 -c track_commit_timestamp=on"
    )
    _start(server)
    return server.get_connection_url(), POSTGRES_IMAGE, _id(server)


def start_valkey() -> tuple[str, str, str] | None:
    """Start a broker; return its URL, its image and its container's id, or None."""
    if not is_obtainable(VALKEY_IMAGE):
        return None
    from testcontainers.community.redis import (  # noqa: PLC0415 - slow, rarely needed
        RedisContainer,
    )

    server = RedisContainer(VALKEY_IMAGE)
    _start(server)
    host, port = server.get_container_host_ip(), server.get_exposed_port(6379)
    return f"redis://{host}:{port}/0", VALKEY_IMAGE, _id(server)


def remove(container_id: str) -> None:
    """Remove a container of an earlier or ending run; one that is gone already is no fault."""
    import docker  # noqa: PLC0415 - slow, rarely needed

    with suppress(docker.errors.NotFound):
        docker.from_env(timeout=30).containers.get(container_id).remove(force=True, v=True)


def _start(server: Any) -> None:
    """Start a server; one that never gets ready is removed, as nobody will know of it."""
    try:
        server.start()
    except BaseException:
        server.stop()
        raise


def _id(server: Any) -> str:
    return str(server.get_wrapped_container().id)
