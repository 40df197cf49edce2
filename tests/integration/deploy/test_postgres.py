import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from deploy.bootstrap import ROOT
from deploy.local import postgres_home
from deploy.local.postgres import RunningPostgres, find_postgres, start_postgres
from tests.support.servers import short_folder

START = (
    "import sys; from pathlib import Path; from deploy.local.postgres import start_postgres;"
    "s = start_postgres(Path(sys.argv[1]), for_tests=True); print(s.pid(), s.url)"
)


@pytest.fixture
def folder():
    with short_folder() as lent:
        yield lent / "postgres"
        found = find_postgres(lent / "postgres")
        if found is not None:
            found.stop()


def ask(server: RunningPostgres, query: str):
    with psycopg.connect(server.url) as connection:
        cursor = connection.execute(query)
        return cursor.fetchone() if cursor.description else None


def test_committed_rows_survive_a_killed_server_and_the_next_start_works(folder):
    server = start_postgres(folder)
    assert ask(server, "SHOW fsync") == ("on",)
    assert ask(server, "SHOW synchronous_commit") == ("on",)
    ask(server, "CREATE TABLE kept AS SELECT 42 AS answer")
    first = server.pid()
    server.kill()
    assert server.pid() is None
    again = start_postgres(folder)
    assert again.pid() not in (None, first)
    assert again.url == server.url
    assert ask(again, "SELECT answer FROM kept") == (42,)
    again.stop()
    assert again.pid() is None
    assert find_postgres(folder) is None


def test_racing_processes_share_one_server(folder):
    def start(_: int) -> str:
        command = [sys.executable, "-c", START, str(folder)]
        done = subprocess.run(  # noqa: S603 - our own interpreter
            command, cwd=ROOT, capture_output=True, text=True, check=True
        )
        return done.stdout

    with ThreadPoolExecutor(3) as pool:
        said = set(pool.map(start, range(3)))
    assert len(said) == 1
    server = find_postgres(folder)
    assert server is not None
    assert said == {f"{server.pid()} {server.url}\n"}


def test_the_database_is_utf8_with_a_locale_that_is_the_same_everywhere(folder):
    server = start_postgres(folder, for_tests=True)
    query = (
        "SELECT pg_encoding_to_char(encoding), datlocprovider, datlocale FROM pg_database "
        "WHERE datname = 'stratagate'"
    )
    assert ask(server, query) == ("UTF8", "b", "C.UTF-8")
    assert ask(server, "SELECT upper('é')") == ("É",)


def test_a_wrong_password_is_refused_and_the_right_one_is_in_a_private_file(folder):
    server = start_postgres(folder, for_tests=True)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(server.url.replace(server.password, "wrong"))
    assert (folder / "server.json").stat().st_mode & 0o077 == 0
    for place in (server.home.sockets, server.home.cluster):
        assert place.stat().st_mode & 0o077 == 0


def test_a_cut_initialisation_is_begun_anew(folder):
    server = start_postgres(folder, for_tests=True)
    server.stop()
    server.home.cluster.rename(server.home.cluster.with_name("cluster.new"))
    assert start_postgres(folder, for_tests=True).is_ready()


def test_a_pid_file_that_names_a_stranger_does_not_block_the_start(folder):
    server = start_postgres(folder, for_tests=True)
    pid_file = server.home.cluster / "postmaster.pid"
    text = pid_file.read_text()
    server.kill()
    options = server.home.popen_options()
    stranger = subprocess.Popen(["/bin/sleep", "600"], cwd="/", **options)
    try:
        pid_file.write_text(text.replace(text.split("\n")[0], str(stranger.pid), 1))
        assert server.pid() is None
        assert start_postgres(folder, for_tests=True).is_ready()
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to give the server to another account")
def test_root_runs_it_as_an_unprivileged_account_and_names_where_its_files_went(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    server = start_postgres(closed / "postgres", for_tests=True)
    try:
        assert server.moved_to is not None
        assert server.moved_to.parent == Path("/var/tmp/stratagate-0")  # noqa: S108
        assert Path(f"/proc/{server.pid()}").stat().st_uid != 0
        assert closed.stat().st_mode & 0o777 == 0o700
    finally:
        server.discard()
    assert not server.moved_to.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to give the server to another account")
def test_binaries_that_the_account_cannot_read_are_copied_with_their_layout(
    folder, tmp_path, monkeypatch
):
    package = postgres_home.installed_binaries()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    for part in (package.name, f"{package.name}.libs"):
        shutil.copytree(package.with_name(part), closed / part, symlinks=True)
    monkeypatch.setattr(postgres_home, "installed_binaries", lambda: closed / package.name)
    monkeypatch.setattr(postgres_home, "_SHORT_ROOT", folder.parent)
    server = start_postgres(folder, for_tests=True)
    assert server.home.binaries.is_relative_to(folder.parent)
    assert ask(server, "SELECT 1") == (1,)
    assert start_postgres(folder, for_tests=True).home == server.home
    server.stop()


def test_a_path_too_long_for_a_socket_gets_a_short_one(folder):
    deep = folder.with_name("d" * 60) / ("e" * 60)
    deep.parent.mkdir(mode=0o711)
    server = start_postgres(deep, for_tests=True)
    try:
        assert len(str(server.home.sockets)) < 80
        assert server.home.cluster.is_relative_to(deep)
        assert server.moved_to is not None
    finally:
        server.discard()
