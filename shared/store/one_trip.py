"""Statements that need no answer of each other: one transaction, sent and committed in one trip.

The tenant is set first, for that transaction alone. Sent apart, beginning, each statement and the
commit would be a trip of their own, which costs about as much as a small statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import psycopg
from psycopg.rows import namedtuple_row

from shared.store.database import Database, translated, unavailable_when_away
from shared.store.direct import Request

_TENANT: Final = "SELECT set_config('app.tenant', %(tenant_id)s, true)"
_CURSORS: Final = "stratagate_one_trip"


def in_one_trip(database: Database, tenant_id: str, *requests: Request) -> list[list[Any]]:
    """Run the requests in order, as one transaction of the tenant; return the rows of each.

    Either all of them are committed or none. Errors are those of `Database.write`.
    """
    with unavailable_when_away():
        fairy: Any = _checked_out(database)
        try:
            return _sent(fairy, tenant_id, requests)
        except psycopg.Error as error:
            raw = fairy.driver_connection
            is_lost = raw is None or raw.closed
            if is_lost:
                fairy.invalidate(error)
            raise translated(database.engine, error, is_lost=is_lost) from error
        except BaseException as error:
            # Cut off between sending and reading: nobody can tell what would be read next.
            fairy.invalidate(error)
            raise
        finally:
            fairy.close()


def _checked_out(database: Database) -> Any:
    try:
        return database.engine.raw_connection()
    except psycopg.Error as error:
        raise translated(database.engine, error, is_lost=True) from error


def _sent(fairy: Any, tenant_id: str, requests: Sequence[Request]) -> list[list[Any]]:
    # Without a BEGIN, what is sent until the pipeline's end is one transaction.
    scope, *cursors = _cursors(fairy, 1 + len(requests))
    with fairy.driver_connection.pipeline():
        scope.execute(_TENANT, {"tenant_id": tenant_id})
        for cursor, request in zip(cursors, requests, strict=True):
            cursor.execute(request.sql, request.values_of(tenant_id))
    # A description of the columns would be built to tell only whether there are any.
    return [cursor.fetchall() if cursor.pgresult.nfields else [] for cursor in cursors]


def _cursors(fairy: Any, number: int) -> list[Any]:
    """Return the connection's own cursors for this purpose: read them before the next use."""
    held: list[Any] = fairy.info.setdefault(_CURSORS, [])
    while len(held) < number:
        held.append(fairy.driver_connection.cursor(row_factory=namedtuple_row))
    return held[:number]
