"""What is sent in one trip is one transaction of one tenant, and leaves its connection whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from shared.errors import Unavailable
from shared.settings import Settings
from shared.store.database import Database
from shared.store.direct import Direct
from shared.store.one_trip import in_one_trip
from tests.support.databases import Tenant, new_tenant
from tests.support.waiting import wait_until

_BEGIN = Direct("INSERT INTO namespaces (tenant_id, namespace) VALUES (:tenant_id, :namespace)")
_NAMES = Direct("SELECT namespace FROM namespaces ORDER BY namespace")
_SLEEP = Direct("SELECT pg_sleep(60)")
_BREAK = Direct("SELECT 1 / CAST(:number AS integer)")
_MINE = Direct("SELECT pg_backend_pid() AS pid, current_setting('app.tenant', true) AS tenant")


def _names(database: Database, tenant_id: str) -> list[str]:
    [rows] = in_one_trip(database, tenant_id, _NAMES.request())
    return [row.namespace for row in rows]


def test_all_of_a_trip_is_stored_and_later_parts_see_the_earlier_ones(
    database: Database, tenant: Tenant
) -> None:
    nothing, rows = in_one_trip(
        database, tenant.tenant_id, _BEGIN.request(namespace="a"), _NAMES.request()
    )
    assert nothing == []
    assert [row.namespace for row in rows] == ["a"]
    assert _names(database, tenant.tenant_id) == ["a"]


def test_a_trip_that_fails_stores_nothing_and_the_connection_goes_on(
    database: Database, tenant: Tenant
) -> None:
    for _ in range(8):  # beyond the run from which statements are prepared
        with pytest.raises(DBAPIError) as raised:
            in_one_trip(
                database,
                tenant.tenant_id,
                _BEGIN.request(namespace="lost"),
                _BREAK.request(number=0),
                _NAMES.request(),
            )
        assert isinstance(raised.value.orig, psycopg.errors.DivisionByZero)
        assert _names(database, tenant.tenant_id) == []


def test_a_trip_sees_its_tenant_alone_and_leaves_none_behind(
    settings: Settings, database: Database, tenant: Tenant
) -> None:
    other = new_tenant(settings, database)
    in_one_trip(database, tenant.tenant_id, _BEGIN.request(namespace="mine"))
    assert _names(database, other.tenant_id) == []
    with pytest.raises(DBAPIError):
        in_one_trip(database, other.tenant_id, _Foreign(tenant.tenant_id).request())
    with database.anonymous() as connection:
        left = connection.exec_driver_sql("SELECT current_setting('app.tenant', true)").scalar()
    assert not left


def test_a_connection_that_was_lost_midway_is_replaced(
    settings: Settings, database: Database, tenant: Tenant
) -> None:
    [[mine]] = in_one_trip(database, tenant.tenant_id, _MINE.request())
    assert mine.tenant == tenant.tenant_id
    url = settings.database_url.get_secret_value()
    with ThreadPoolExecutor(1) as aside, psycopg.connect(url, autocommit=True) as operator:
        trip = aside.submit(
            in_one_trip, database, tenant.tenant_id, _SLEEP.request(), _MINE.request()
        )
        asleep = "SELECT pid FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"
        wait_until(lambda: operator.execute(asleep, [mine.pid]).fetchone(), "it sleeps")
        operator.execute("SELECT pg_terminate_backend(%s)", [mine.pid])
        with pytest.raises(Unavailable):
            trip.result(timeout=30)
    [[next_one]] = in_one_trip(database, tenant.tenant_id, _MINE.request())
    assert next_one.pid != mine.pid


class _Cut(BaseException):
    """A time limit that strikes wherever the process is."""


def test_a_trip_that_is_cut_off_gives_its_connection_up(
    database: Database, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    [[mine]] = in_one_trip(database, tenant.tenant_id, _MINE.request())
    execute = psycopg.Cursor.execute

    def cut(self: psycopg.Cursor[Any], query: Any, *args: Any, **named: Any) -> Any:
        if "pg_backend_pid" in str(query):
            raise _Cut
        return execute(self, query, *args, **named)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", cut)
        with pytest.raises(_Cut):
            in_one_trip(database, tenant.tenant_id, _MINE.request())
    [[next_one]] = in_one_trip(database, tenant.tenant_id, _MINE.request())
    assert next_one.pid != mine.pid


def _Foreign(tenant_id: str) -> Direct:  # noqa: N802 - reads as a statement
    """Return a statement that writes a row of another tenant."""
    return Direct(
        f"INSERT INTO namespaces (tenant_id, namespace) VALUES ('{tenant_id}', 'stolen')"  # noqa: S608 - an id of this test
    )
