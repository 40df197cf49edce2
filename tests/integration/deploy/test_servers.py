import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from deploy.bootstrap import ROOT
from deploy.local.postgres import find_postgres
from tests.support import containers, servers

ASK = (
    "import os; from tests.support import servers as s; s.begin_run();"
    "print(s.test_postgres_url()); print(s.database_server().source)"
)
CRASH = ASK + "; os.kill(os.getpid(), 9)"


@pytest.fixture
def environment():
    """The environment of a run of its own, on embedded servers, which no other run clears."""
    with servers.short_folder() as folder:
        yield _environment(folder) | {containers.SWITCH_VARIABLE: "off"}


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STRATA")}
    return kept | {"PYTHONPATH": str(ROOT), servers.FOLDER_VARIABLE: str(folder)}


def run(script: str, environment) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-u", "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_address_in_the_environment_is_used_and_named(environment):
    given = {servers.DATABASE_VARIABLE: "postgresql://example.invalid/x"}
    done = run(ASK + "; print(s.header())", environment | given)
    assert done.stdout.startswith("postgresql://example.invalid/x\nenvironment\n")
    assert f"database: environment ({servers.DATABASE_VARIABLE})" in done.stdout


def test_all_processes_of_a_run_get_the_same_server():
    first, second = servers.database_server(), servers.database_server()
    assert first == second
    assert servers.test_postgres_url() == first.url


def test_the_runs_broker_answers_wherever_it_came_from():
    with redis.Redis.from_url(servers.broker_url()) as client:
        assert client.ping()
    assert servers.broker_server().source in set(servers.Source)


def test_a_crashed_runs_server_is_cleared_by_the_next_run(environment):
    crashed = run(CRASH, environment)
    assert crashed.returncode == -9
    (left,) = Path(environment[servers.FOLDER_VARIABLE]).glob("run-*/")
    server = find_postgres(left / "postgres")
    assert server is not None
    assert server.url.startswith(crashed.stdout.splitlines()[0].rsplit("/", 1)[0])
    after = run("from tests.support import servers as s; s.begin_run(); s.end_run()", environment)
    assert after.returncode == 0, after.stderr
    assert not left.exists()
    assert not server.is_ready()


def test_a_run_that_was_cut_while_clearing_is_cleared_by_the_next_run(environment):
    run(CRASH, environment)
    (left,) = Path(environment[servers.FOLDER_VARIABLE]).glob("run-*/")
    server = find_postgres(left / "postgres")
    assert server is not None
    server.stop()
    (left / "postgres" / "cluster" / "PG_VERSION").unlink()
    after = run("from tests.support import servers as s; s.begin_run(); s.end_run()", environment)
    assert after.returncode == 0, after.stderr
    assert not left.exists()


def test_a_run_never_takes_the_name_of_an_earlier_one_of_its_process_id(environment):
    name = "n = s.begin_run(); os.environ.pop(s.RUN_VARIABLE); print(n); "
    done = run(f"import os; from tests.support import servers as s; {name * 2}", environment)
    first, second = done.stdout.split()
    assert first != second


@pytest.mark.skipif(
    not containers.is_obtainable(containers.POSTGRES_IMAGE),
    reason=f"no Docker engine offers {containers.POSTGRES_IMAGE}",
)
def test_a_crashed_runs_container_is_removed_by_the_next_run():
    import docker  # noqa: PLC0415 - slow, and here only where there is an engine

    with servers.short_folder() as folder:
        crashed = run(CRASH, _environment(folder))
        assert (crashed.returncode, crashed.stdout.splitlines()[1]) == (-9, "container")
        (state,) = folder.glob("run-*/postgres.json")
        container_id = json.loads(state.read_text(encoding="utf-8"))["container"]
        again = "from tests.support import servers as s; s.begin_run(); s.end_run()"
        after = run(again, _environment(folder))
        assert after.returncode == 0, after.stderr
    engine = docker.from_env(timeout=30)
    with pytest.raises(docker.errors.NotFound):
        engine.containers.get(container_id)
    engine.close()
