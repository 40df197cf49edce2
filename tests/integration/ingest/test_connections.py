"""Connections that Postgres ended: idle ones are replaced unseen, used ones are never repeated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest
from sqlalchemy import text

from shared.errors import Unavailable
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase
from tests.support.databases import Tenant, clone_database, drop_database, settings_for

IDLE = 3


@pytest.fixture
def own_settings() -> Iterator[Settings]:
    url = clone_database()
    yield settings_for(url)
    drop_database(url)


def end_all(settings: Settings) -> None:
    """End every other connection of the database, as a restart does, and see them gone."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    url = settings.database_url.get_secret_value()
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(f"SELECT pg_terminate_backend(pid) {others}")
        deadline = time.monotonic() + 20
        while link.execute(f"SELECT count(*) {others}").fetchone() != (0,):
            assert time.monotonic() < deadline, "connections do not end"


def test_after_a_restart_no_request_pays_for_an_idle_connection(own_settings: Settings) -> None:
    database, queue = Database(own_settings), QueueDatabase(own_settings)
    with ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(database.read("ten_1"))
    with queue.transaction():
        pass
    end_all(own_settings)
    with ExitStack() as stack:
        anonymous = stack.enter_context(database.anonymous())
        assert anonymous.execute(text("SELECT 1")).scalar_one() == 1
        for open_as in (database.read, database.write):
            tx = stack.enter_context(open_as("ten_1"))
            told = text("SELECT current_setting('app.tenant')")
            assert tx.connection.execute(told).scalar_one() == "ten_1"
        jobs = stack.enter_context(queue.transaction())
        assert jobs.connection.execute(text("SELECT 1")).scalar_one() == 1
    database.close()
    queue.close()


def test_a_connection_lost_in_the_middle_is_told_and_nothing_is_run_again(
    own_settings: Settings,
) -> None:
    database = Database(own_settings)
    runs: list[int] = []

    def cut_off() -> None:
        with database.write("ten_1") as tx:
            runs.append(tx.connection.execute(text("SELECT 1")).scalar_one())
            end_all(own_settings)
            tx.connection.execute(text("SELECT 2"))

    with pytest.raises(Unavailable):
        cut_off()
    assert runs == [1]
    with database.write("ten_1") as tx:
        assert tx.connection.execute(text("SELECT 3")).scalar_one() == 3
    database.close()


def test_a_healthy_connection_is_kept(database: Database, tenant: Tenant) -> None:
    own_pid = text("SELECT pg_backend_pid()")
    with database.read(tenant.tenant_id) as tx:
        first = tx.connection.execute(own_pid).scalar_one()
    with database.read(tenant.tenant_id) as tx:
        assert tx.connection.execute(own_pid).scalar_one() == first
