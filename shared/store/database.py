"""Connections, roles and transactions: one use case is one transaction, committed at the edge.

`ReadTx` and `WriteTx` are distinct types; each carries its tenant, set for that transaction alone,
so that row level security hides every other tenant's rows. Nothing here is held during model calls.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
import psycopg
from psycopg import sql
from psycopg.rows import namedtuple_row, tuple_row
from pydantic import SecretStr
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from shared.errors import Unavailable
from shared.logs import get_logger
from shared.settings import Settings

_log = get_logger("store")
_AWAY: Final = frozenset({"08", "53", "57"})
"""Classes of SQLSTATE that pass by themselves: the same request goes through when sent again."""
_NAMES_NOTHING: Final = "23503"
_ROLLED_BACK: Final = "40"
"""What Postgres rolled back to end a deadlock, or to keep transactions apart."""
_BEGIN: Final = sql.SQL("{begin}; SELECT set_config('app.tenant', {tenant_id}, true)")
_CURSOR: Final = "stratagate_cursor"
_PLANS_ONCE: Final = "stratagate_plans_once"


@dataclass(frozen=True, slots=True)
class ReadTx:
    """A transaction that only reads, as one tenant."""

    connection: Connection
    tenant_id: str


class _LateReadTx(ReadTx):
    """A transaction that begins when it is first asked for its connection."""

    __slots__ = ("_begin", "_begun")
    _begin: Callable[[], Connection]
    _begun: Connection | None

    def __init__(self, tenant_id: str, begin: Callable[[], Connection]) -> None:
        for name, value in (("tenant_id", tenant_id), ("_begin", begin), ("_begun", None)):
            object.__setattr__(self, name, value)

    @property
    def connection(self) -> Connection:
        """The connection, of a transaction that has begun by now."""
        begun = self._begun or self._begin()
        object.__setattr__(self, "_begun", begun)
        return begun


@dataclass(frozen=True, slots=True)
class WriteTx(ReadTx):
    """A transaction that may write, as one tenant; it commits when its block ends well."""


@dataclass(frozen=True, slots=True)
class QueueTx:
    """A transaction of the queue role: sees the job rows of all tenants and nothing else."""

    connection: Connection


class Database:
    """The app role's pool: every transaction names its tenant.

    `plans_once`: a prepared statement keeps the plan it was first given, whatever its values.
    Planning anew, as Postgres else may at each run, costs several times what such a statement does.
    Raises Unavailable (503) when Postgres cannot be reached or no connection gets free in time.
    """

    def __init__(self, settings: Settings, *, plans_once: bool = False) -> None:
        url = settings.app_database_url
        role = None if url else settings.app_role
        self.engine = _engine(
            url or settings.database_url, settings, role=role, plans_once=plans_once
        )

    @contextmanager
    def read(self, tenant_id: str) -> Iterator[ReadTx]:
        """Open a read-only transaction as `tenant_id`."""
        with unavailable_when_away(), self.engine.connect() as connection, connection.begin():
            _begin(connection, "BEGIN READ ONLY", tenant_id)
            yield ReadTx(connection, tenant_id)

    @contextmanager
    def read_when_needed(self, tenant_id: str) -> Iterator[ReadTx]:
        """Open a read-only transaction as `tenant_id` where the block reads at all."""
        with ExitStack() as opened:
            yield _LateReadTx(
                tenant_id, lambda: opened.enter_context(self.read(tenant_id)).connection
            )

    @contextmanager
    def write(self, tenant_id: str) -> Iterator[WriteTx]:
        """Open a transaction as `tenant_id`; commit at the end, roll back on any error."""
        with unavailable_when_away(), self.engine.connect() as connection, connection.begin():
            _begin(connection, "BEGIN", tenant_id)
            yield WriteTx(connection, tenant_id)

    @contextmanager
    def anonymous(self) -> Iterator[Connection]:
        """Open a transaction without a tenant: sees no rows, may call the key look-up."""
        with unavailable_when_away(), self.engine.connect() as connection, connection.begin():
            send(connection, "BEGIN")
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


class QueueDatabase:
    """The queue role's pool, for the relay and the upkeep."""

    def __init__(self, settings: Settings) -> None:
        url = settings.queue_database_url
        role = None if url else settings.queue_role
        self.engine = _engine(
            url or settings.database_url, settings, role=role, pool_size=2, plans_once=True
        )

    @contextmanager
    def transaction(self) -> Iterator[QueueTx]:
        """Open a transaction of the queue role; commit at the end."""
        with unavailable_when_away(), self.engine.connect() as connection, connection.begin():
            send(connection, "BEGIN")
            yield QueueTx(connection)

    @contextmanager
    def statement(self) -> Iterator[QueueTx]:
        """Open what one statement needs: sent without a BEGIN, it is a transaction of its own."""
        with unavailable_when_away(), self.engine.connect() as connection, connection.begin():
            yield QueueTx(connection)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _begin(connection: Connection, begin: str, tenant_id: str) -> None:
    """Begin a transaction as a tenant, in one round trip: psycopg's own BEGIN would be another."""
    send(connection, _beginning(begin, tenant_id))


@lru_cache(maxsize=4_096)
def _beginning(begin: str, tenant_id: str) -> str:
    statement = _BEGIN.format(begin=sql.SQL(begin), tenant_id=sql.Literal(tenant_id))
    return statement.as_string()


def send(
    connection: Connection,
    statement: str,
    values: Mapping[str, Any] | None = None,
    *,
    binary: bool = False,
    named: bool = True,
) -> Any:
    """Send psycopg one statement as it is, on the transaction under way; return its cursor.

    Without `values` it may be several, separated by semicolons. `binary` has the rows come as
    they are stored, which spares much for bytes; without `named` they are plain tuples, which come
    three times as fast where there are very many.

    The cursor is the connection's own for this purpose: read it before the next one is sent.
    Errors are SQLAlchemy's, and a connection that broke leaves the pool.
    """
    fairy: Any = connection.connection
    cursor = fairy.info.get(_CURSOR)
    if cursor is None:
        cursor = fairy.info[_CURSOR] = fairy.cursor(row_factory=namedtuple_row)
    wanted = namedtuple_row if named else tuple_row
    if cursor.row_factory is not wanted:
        cursor.row_factory = wanted
    try:
        cursor.execute(statement, values, prepare=None if values else False, binary=binary)
    except psycopg.Error as error:
        raise _translated(connection, statement, error) from error
    return cursor


def plan_for_any(tx: ReadTx) -> None:
    """Have what this transaction sends from now on run by plans made for any values.

    Planning a ranked search for its values costs more than running it in most namespaces, and
    Postgres else may plan it at each search. What such plans read is counted by tests.
    """
    if not tx.connection.info[_PLANS_ONCE]:
        send(tx.connection, "SET LOCAL plan_cache_mode = force_generic_plan")


def _translated(connection: Connection, statement: str, error: psycopg.Error) -> Exception:
    raw: Any = connection.connection.driver_connection
    is_lost = raw is None or raw.closed
    if is_lost:
        connection.invalidate(error)
    return translated(connection, error, is_lost=is_lost, statement=statement)


def translated(
    of: Connection | Engine, error: psycopg.Error, *, is_lost: bool, statement: str = ""
) -> Exception:
    """Return a driver's error as SQLAlchemy's own, without the values that it was sent."""
    made: Exception = DBAPIError.instance(
        statement,
        None,
        error,
        psycopg.Error,
        hide_parameters=True,
        connection_invalidated=is_lost,
        dialect=of.dialect,
    )
    return made


def owner_engine(settings: Settings) -> Engine:
    """Return an engine of the migrating role, for migrations and the first administration."""
    url = settings.database_url
    return _engine(url, settings, role=None, pool_size=1, begins_implicitly=True)


def _engine(
    url: SecretStr,
    settings: Settings,
    *,
    role: str | None,
    pool_size: int | None = None,
    begins_implicitly: bool = False,
    plans_once: bool = False,
) -> Engine:
    connect_args: dict[str, Any] = {"connect_timeout": 5, "application_name": "stratagate"}
    if settings.pgbouncer:
        connect_args["prepare_threshold"] = None
    elif plans_once:
        connect_args["prepare_threshold"] = 1
    engine = create_engine(
        url.get_secret_value(),
        pool_size=pool_size or settings.pool_size,
        max_overflow=0,
        pool_timeout=settings.pool_timeout_s,
        pool_use_lifo=True,
        json_serializer=_dump_json,
        json_deserializer=orjson.loads,
        connect_args=connect_args,
    )

    @event.listens_for(engine, "connect")
    def _prepare(dbapi_connection: Any, record: Any) -> None:
        record.info[_PLANS_ONCE] = plans_once
        with dbapi_connection.cursor() as cursor:
            cursor.execute("SET timezone TO 'UTC'")
            if role is not None:
                cursor.execute(f'SET ROLE "{role}"')
                cursor.execute(f"SET statement_timeout TO {settings.statement_timeout_ms}")
            if plans_once:
                cursor.execute("SET plan_cache_mode TO force_generic_plan")
                # What is planned while a table is small is still run when it has grown.
                cursor.execute("SET enable_seqscan TO off")
        dbapi_connection.commit()
        # Else psycopg would send a BEGIN of its own before ours.
        dbapi_connection.autocommit = not begins_implicitly

    event.listen(engine, "checkout", _replace_when_ended)
    return engine


def _replace_when_ended(dbapi_connection: Any, _record: Any, _proxy: Any) -> None:
    """Have the pool replace a connection that Postgres ended while it lay idle.

    Only here may that be done unseen: nothing of the caller has run yet. An idle connection has
    nothing to say but its end, so one look at its socket tells, without asking the server.
    """
    try:
        socket = select.poll()
        socket.register(dbapi_connection.fileno(), select.POLLIN)
        has_ended = bool(socket.poll(0))
    except psycopg.OperationalError:
        has_ended = True
    if has_ended:
        raise DisconnectionError("ended by the server while idle")


def _dump_json(value: Any) -> str:
    return orjson.dumps(value).decode()


@contextmanager
def unavailable_when_away() -> Iterator[None]:
    """Turn a lost or refused connection, a deadlock and a drained pool into Unavailable.

    Every error that leaves a transaction is logged with its SQLSTATE, without statement or values.
    """
    try:
        yield
    except DBAPIError as error:
        state = _sqlstate(error)
        _log.warning("database_error", sqlstate=state, error=type(error.orig).__name__)
        if state is not None and (state[:2] == _ROLLED_BACK or _lost_its_place(error, state)):
            raise Unavailable(
                "writers met in the database; nothing was stored, try again",
                code="busy",
                retry_after_s=1,
            ) from error
        if _is_outage(error, state):
            raise Unavailable(
                "the database is away; nothing was stored, try again", retry_after_s=1
            ) from error
        raise
    except PoolTimeoutError as error:
        raise Unavailable(
            "all database connections are busy; try again", code="busy", retry_after_s=1
        ) from error


def _sqlstate(error: DBAPIError) -> str | None:
    state: str | None = getattr(error.orig, "sqlstate", None)
    return state


def _lost_its_place(error: DBAPIError, state: str) -> bool:
    """Tell a write whose namespace or thread was erased meanwhile: sent again, it begins anew."""
    named = getattr(getattr(error.orig, "diag", None), "constraint_name", None) or ""
    return state == _NAMES_NOTHING and named.endswith(("_namespace", "_namespace_thread_id"))


def _is_outage(error: DBAPIError, state: str | None) -> bool:
    """Tell a lost or refused connection from a statement that failed on a healthy one."""
    if error.connection_invalidated:
        return True
    if state is None:
        return isinstance(error, OperationalError | InterfaceError)
    return state[:2] in _AWAY
