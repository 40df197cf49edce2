"""The compose file has every role, keeps inside what must be, and names what exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from shared.cli import command_line
from shared.settings import QUEUES, Settings

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
EXAMPLE = DEPLOY / "env.example"
PUBLISHED = {"ingest", "retrieval", "console", "flower", "prometheus", "grafana"}
NOT_OURS = {"postgres", "valkey", "prometheus", "grafana"}
_OF_COMPOSE_ITSELF = {"COMPOSE_PROJECT_NAME"}
Service = dict[str, Any]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def services(compose: dict[str, Any]) -> dict[str, Service]:
    found: dict[str, Service] = compose["services"]
    return found


def _ours(services: dict[str, Service]) -> dict[str, Service]:
    return {name: one for name, one in services.items() if name not in NOT_OURS}


def _option(service: Service, name: str) -> str:
    words = [str(word) for word in service["command"]]
    return words[words.index(name) + 1]


def test_every_command_exists_with_the_options_it_is_given(services: dict[str, Service]) -> None:
    commands: Any = typer.main.get_command(command_line())
    for name, service in _ours(services).items():
        role, *words = service["command"]
        assert role in commands.commands, name
        known = {option for given in commands.commands[role].params for option in given.opts}
        assert {word for word in words if str(word).startswith("--")} <= known, name


def test_every_queue_has_a_worker_and_none_has_two(services: dict[str, Service]) -> None:
    served = [
        queue
        for service in services.values()
        if service.get("command", [""])[0] == "worker"
        for queue in _option(service, "--queues").split(",")
    ]
    assert sorted(served) == sorted(QUEUES)


def test_everything_has_a_health_check_limits_and_a_network(services: dict[str, Service]) -> None:
    for name, service in services.items():
        assert "mem_limit" in service, name
        assert service["networks"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        if name != "migrate":
            assert service["healthcheck"]["test"], name
            assert "cpus" in service, name
            assert service["restart"] == "unless-stopped", name


def test_a_process_of_ours_writes_below_tmp_alone_and_has_no_capability(
    services: dict[str, Service],
) -> None:
    for name, service in _ours(services).items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert [mount.partition(":")[0] for mount in service["tmpfs"]] == ["/tmp"], name  # noqa: S108 - of the container
        assert "user" not in service, f"{name} would not be the image's own account"


def test_only_what_people_open_is_published_and_on_this_machine_unless_told(
    services: dict[str, Service],
) -> None:
    published = {name for name, service in services.items() if service.get("ports")}
    assert published == PUBLISHED
    for name in published:
        assert all(port.startswith("${BIND:-127.0.0.1}:") for port in services[name]["ports"])
        assert "edge" in services[name]["networks"], name


def test_database_and_broker_are_on_a_network_that_nothing_leads_out_of(
    compose: dict[str, Any], services: dict[str, Service]
) -> None:
    assert compose["networks"]["data"] == {"internal": True}
    assert compose["networks"]["metrics"] == {"internal": True}
    for name in ("postgres", "valkey"):
        assert services[name]["networks"] == ["data"]
    assert services["console"]["networks"] == ["edge"], "a client of the API alone"
    assert {name for name, one in services.items() if "outward" in one["networks"]} == {
        name for name in services if name.startswith("worker-")
    }


def test_the_owners_password_is_told_to_the_database_and_the_migration_alone(
    services: dict[str, Service],
) -> None:
    told = {name for name, one in services.items() if "{POSTGRES_PASSWORD" in str(one)}
    assert told == {"postgres", "migrate"}
    assert "STRATAGATE_APP_DATABASE_URL" not in services["console"]["environment"]
    assert "STRATAGATE_MODEL_API_KEY" not in services["ingest"]["environment"]


def test_what_needs_the_schema_waits_for_the_migration(services: dict[str, Service]) -> None:
    for name, service in _ours(services).items():
        if "STRATAGATE_APP_DATABASE_URL" in service["environment"] and name != "migrate":
            waits = service["depends_on"]["migrate"]["condition"]
            assert waits == "service_completed_successfully", name


def test_every_setting_that_is_passed_exists(services: dict[str, Service]) -> None:
    known = {f"STRATAGATE_{name.upper()}" for name in Settings.model_fields}
    of_the_roles = {"STRATAGATE_APP_PASSWORD", "STRATAGATE_QUEUE_PASSWORD"}
    passed = {
        name
        for service in services.values()
        for name in service.get("environment", {})
        if name.startswith("STRATAGATE_")
    }
    assert passed - of_the_roles <= known


def test_every_variable_is_explained_in_the_example_and_none_is_left_over() -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    passed_on = set(re.findall(r"^\s+((?:STRATAGATE|OTEL|FORWARDED)_\w+):$", text, re.MULTILINE))
    example = EXAMPLE.read_text(encoding="utf-8")
    explained = set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE))
    assert explained - _OF_COMPOSE_ITSELF == used | passed_on


def test_the_example_shows_the_defaults_and_holds_no_secret() -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    example = dict(
        re.findall(r"^#?([A-Z_]+)=(.*)$", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE)
    )
    for name, default in re.findall(r"\$\{(\w+):-([^}]*)\}", text):
        assert example[name] == default, name
    required = set(re.findall(r"\$\{(\w+):\?\}", text))
    assert {name: example[name] for name in required} == dict.fromkeys(required, "")
    for name, field in Settings.model_fields.items():
        shown = example.get(f"STRATAGATE_{name.upper()}")
        if shown and name != "image":
            assert shown.lower() == str(field.default).lower(), name


def test_prometheus_scrapes_every_process_where_it_serves_its_metrics(
    services: dict[str, Service],
) -> None:
    scrapes = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))
    scraped = {
        target
        for job in scrapes["scrape_configs"]
        for static in job["static_configs"]
        for target in static["targets"]
    }
    serving = {
        f"{name}:{_option(service, option)}"
        for name, service in _ours(services).items()
        for option in ("--metrics-port", "--port")
        if option in service["command"] and name != "flower"
    }
    assert scraped == serving
    assert {"metrics"} <= {
        network for target in scraped for network in services[target.partition(":")[0]]["networks"]
    }
    assert "metrics" in services["prometheus"]["networks"]


def test_every_file_that_is_mounted_is_there(services: dict[str, Service]) -> None:
    mounted = {
        volume.split(":")[0]
        for service in services.values()
        for volume in service.get("volumes", ())
        if volume.startswith(".")
    }
    assert mounted
    assert all((DEPLOY / path).exists() for path in mounted)


def test_the_dashboard_is_provisioned_from_where_it_is_mounted(
    services: dict[str, Service],
) -> None:
    provisioning = DEPLOY / "grafana" / "provisioning"
    boards = yaml.safe_load((provisioning / "dashboards" / "stratagate.yml").read_text("utf-8"))
    folder = boards["providers"][0]["options"]["path"]
    mounts = [volume.split(":")[1] for volume in services["grafana"]["volumes"]]
    assert f"{folder}/stratagate.json" in mounts
    sources = yaml.safe_load((provisioning / "datasources" / "prometheus.yml").read_text("utf-8"))
    assert sources["datasources"][0]["type"] == "prometheus"
    assert sources["datasources"][0]["url"] == "http://prometheus:9090"
