from pathlib import Path

import pytest

from deploy.local import postgres_home
from deploy.local.faults import ServerFailed
from deploy.local.postgres_conf import render, settings
from deploy.local.services import Addresses, service_specs
from deploy.local.valkey import configuration


def test_only_a_server_for_tests_gives_durability_up():
    durable = settings(Path("/s"), 21_000, for_tests=False)
    quick = settings(Path("/s"), 21_000, for_tests=True)
    assert (durable["fsync"], durable["synchronous_commit"]) == ("on", "on")
    assert (quick["fsync"], quick["synchronous_commit"]) == ("off", "on")


def test_postgres_listens_on_loopback_alone():
    assert settings(Path("/s"), 21_000, for_tests=False)["listen_addresses"] == "127.0.0.1"


def test_a_quote_in_a_path_does_not_end_the_setting():
    assert render({"unix_socket_directories": "/a'b"}) == "unix_socket_directories = '/a''b'\n"


def test_the_broker_keeps_its_messages_and_asks_for_a_password_on_loopback():
    text = configuration(Path("/data/valkey"), 21_001, "pw")
    assert {"appendonly yes", "requirepass pw", "bind 127.0.0.1"} <= set(text.splitlines())


def test_a_socket_path_of_any_folder_stays_within_what_the_system_allows(tmp_path):
    assert postgres_home._fits_socket(
        postgres_home._SHORT_ROOT / "stratagate-0" / "0123456789ab" / "socket"
    )
    assert not postgres_home._fits_socket(tmp_path / ("x" * 90))


def test_a_folder_of_someone_elses_making_is_refused(tmp_path):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(ServerFailed, match="remove it"):
        postgres_home._own_folder(open_to_all)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with pytest.raises(ServerFailed, match="remove it"):
        postgres_home._own_folder(link)


def test_a_data_folder_made_anew_never_finds_the_old_ones_files(tmp_path):
    first = postgres_home._identity(tmp_path)
    assert postgres_home._identity(tmp_path) == first
    (tmp_path / "identity").unlink()
    assert postgres_home._identity(tmp_path) != first


def _specs(addresses: Addresses):
    return {
        spec.name: spec
        for spec in service_specs(addresses, {"A": "b"}, flower_auth="u:pw", concurrency=2)
    }


def test_one_port_means_one_process_for_both_services():
    specs = _specs(Addresses(8080, 8080, 5555))
    assert list(specs) == ["flower", "worker", "upkeep", "relay", "api"]
    assert "deploy.local.asgi:app" in specs["api"].command


def test_apart_means_a_process_for_each_service_on_its_own_port():
    specs = _specs(Addresses(8080, 8081, 5555))
    assert list(specs) == ["flower", "worker", "upkeep", "relay", "retrieval", "ingest"]
    assert "8081" in specs["retrieval"].command
    assert "8080" in specs["ingest"].command


def test_flower_is_on_loopback_and_its_password_in_no_argument():
    flower = _specs(Addresses(8080, 8080, 5555))["flower"]
    assert "--address=127.0.0.1" in flower.command
    assert all("pw" not in word for word in flower.command)
    assert flower.environment["FLOWER_BASIC_AUTH"] == "u:pw"


def test_a_worker_serves_every_queue_and_gives_back_what_it_cannot_finish():
    worker = _specs(Addresses(8080, 8080, 0))["worker"]
    queues = worker.command[worker.command.index("-Q") + 1]
    assert queues == "summarize,extract,project,embed,import,backfill,upkeep"
    assert [number.name for number, _ in worker.stop_steps] == ["SIGTERM", "SIGQUIT"]


def test_worker_relay_and_upkeep_serve_their_metrics_where_they_are_told_to():
    told = Addresses(1, 1, 0, worker_metrics=9101, relay_metrics=9102, upkeep_metrics=9103)
    specs = _specs(told)
    for name, port in (("worker", "9101"), ("relay", "9102"), ("upkeep", "9103")):
        command = specs[name].command
        assert command[command.index("--metrics-port") + 1] == port
    assert specs["worker"].ready_marker == " ready."
    assert "--metrics-port" not in _specs(Addresses(1, 1, 0))["relay"].command


def test_the_console_finds_both_services_and_is_told_no_password_of_a_server():
    console = _specs(Addresses(8080, 8081, 0, 8090))["console"]
    assert console.environment["STRATAGATE_CONSOLE_API_URL"] == "http://127.0.0.1:8080"
    assert console.environment["STRATAGATE_CONSOLE_RETRIEVAL_URL"] == "http://127.0.0.1:8081"
    secret = {"STRATAGATE_DATABASE_URL": "postgresql://u:pw@h/d", "STRATAGATE_BROKER_URL": "r"}
    told = service_specs(Addresses(1, 1, 0, 2), secret, flower_auth="", concurrency=1)[-1]
    assert not set(secret) & set(told.environment)


def test_without_flower_there_is_no_flower():
    assert "flower" not in _specs(Addresses(8080, 8080, 0))
