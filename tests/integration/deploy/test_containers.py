"""What the containers of the compose file are while they run: asked of the engine itself."""

from __future__ import annotations

import os
from typing import Any

import pytest

PROJECT_VARIABLE = "STRATAGATE_TEST_COMPOSE_PROJECT"
OURS = frozenset(
    {"ingest", "retrieval", "relay", "upkeep", "flower", "console"}
    | {f"worker-{family}" for family in ("live", "embed", "import", "backfill", "upkeep")}
)
COMPILERS = "command -v cc gcc g++ clang cpp ld as make cargo rustc go pip pip3"
pytestmark = [
    pytest.mark.skipif(
        PROJECT_VARIABLE not in os.environ,
        reason=f"{PROJECT_VARIABLE} names no running compose project",
    ),
    pytest.mark.timeout(600),
    # The engine's client leaves its socket to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def containers() -> dict[str, Any]:
    """The project's containers, by the name of their service."""
    import docker  # type: ignore[import-untyped] # noqa: PLC0415 - untyped; slow, rarely needed

    label = f"com.docker.compose.project={os.environ[PROJECT_VARIABLE]}"
    engine = docker.from_env(timeout=60)
    found = engine.containers.list(all=True, filters={"label": label})
    return {one.labels["com.docker.compose.service"]: one for one in found}


def test_every_service_is_healthy_and_the_migration_has_ended_well(
    containers: dict[str, Any],
) -> None:
    assert containers.keys() >= OURS | {"postgres", "valkey", "migrate"}
    states = {name: one.attrs["State"] for name, one in containers.items()}
    migrated = states.pop("migrate")
    assert (migrated["Status"], migrated["ExitCode"]) == ("exited", 0)
    assert {name: state["Health"]["Status"] for name, state in states.items()} == dict.fromkeys(
        states, "healthy"
    )


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_process_of_ours_is_nobody_and_can_write_below_tmp_alone(
    containers: dict[str, Any], name: str
) -> None:
    container = containers[name]
    assert container.exec_run(["id", "-u"]).output.strip() == b"10001"
    code, said = container.exec_run(["sh", "-c", "echo x > /opt/stratagate/x"])
    assert code != 0
    assert b"Read-only file system" in said
    assert container.exec_run(["sh", "-c", "echo x > /tmp/x && rm /tmp/x"]).exit_code == 0
    host = container.attrs["HostConfig"]
    assert host["CapDrop"] == ["ALL"]
    assert host["Memory"] > 0
    assert host["NanoCpus"] > 0


def test_the_image_has_no_compiler_and_no_pip(containers: dict[str, Any]) -> None:
    assert containers["ingest"].exec_run(["sh", "-c", COMPILERS]).output == b""


def test_only_what_people_open_is_published_and_on_this_machine_alone(
    containers: dict[str, Any],
) -> None:
    published = {
        name: {binding["HostIp"] for ports in found.values() for binding in ports or ()}
        for name, one in containers.items()
        if (found := one.attrs["NetworkSettings"]["Ports"]) and any(found.values())
    }
    assert published.keys() == {"ingest", "retrieval", "console", "flower"}
    assert set().union(*published.values()) == {"127.0.0.1"}


def test_no_service_but_the_migration_is_told_the_owners_password(
    containers: dict[str, Any],
) -> None:
    told = {
        name
        for name in OURS
        for line in containers[name].attrs["Config"]["Env"]
        if line.startswith("STRATAGATE_DATABASE_URL=")
    }
    assert told == set()
