"""Statements of the hot path: compiled once, then sent to psycopg as they are.

SQLAlchemy still says what a statement is and translates its errors; what it does at each run costs
three times what psycopg and the network need. Rows come back as named tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import JSON, ClauseElement, ColumnElement, Table, text
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from shared.store.database import QueueTx, ReadTx, WriteTx, send

_DIALECT: Final = PGDialect_psycopg()  # type: ignore[no-untyped-call] # SQLAlchemy gives it no types


def only_checked(column: ColumnElement[str]) -> ColumnElement[str]:
    """Return a column to compare in rows that are found by their key, kept out of any index.

    A statement that is sent often is planned once for any parameters. Such a plan does not know
    how large a namespace is, and once walked all its events for each key.
    """
    return column.concat("")


class Direct:
    """One statement, given as SQL with `:names` or as a SQLAlchemy construct.

    Each run takes the values of its parameters by name; `tenant_id` is the transaction's. Lists
    of any length are one parameter (`= ANY(:ids)`), so that the statement stays the same.
    """

    __slots__ = ("_defaults", "_json", "_sql")

    def __init__(self, statement: ClauseElement | str) -> None:
        built = text(statement) if isinstance(statement, str) else statement
        compiled: Any = built.compile(dialect=_DIALECT)
        self._sql: str = str(compiled)
        self._json = tuple(
            name for name, bind in compiled.binds.items() if isinstance(bind.type, JSON)
        )
        self._defaults: Mapping[str, Any] = {
            name: value for name, value in compiled.params.items() if value is not None
        }

    def rows(self, tx: ReadTx, **values: Any) -> list[Any]:
        """Run and return all rows, their columns as attributes."""
        found: list[Any] = self._run(tx, values).fetchall()
        return found

    def first(self, tx: ReadTx, **values: Any) -> Any | None:
        """Run and return the first row, or None."""
        return self._run(tx, values).fetchone()

    def scalars(self, tx: ReadTx, **values: Any) -> list[Any]:
        """Run and return the first column of all rows."""
        return [row[0] for row in self._run(tx, values).fetchall()]

    def scalar(self, tx: ReadTx, **values: Any) -> Any:
        """Run and return the first column of the first row; None without a row."""
        row = self._run(tx, values).fetchone()
        return None if row is None else row[0]

    def run(self, tx: WriteTx, **values: Any) -> int:
        """Run and return how many rows it changed."""
        changed: int = self._run(tx, values).rowcount
        return changed

    def rows_of_queue(self, tx: QueueTx, **values: Any) -> list[Any]:
        """Run as the queue role, which has no tenant, and return all rows."""
        found: list[Any] = send(tx.connection, self._sql, self._bound(values)).fetchall()
        return found

    def request(self, **values: Any) -> Request:
        """Return the statement with its values, to be sent together with others."""
        return Request(self._sql, self._bound(values))

    def _run(self, tx: ReadTx, values: dict[str, Any]) -> Any:
        bound = {"tenant_id": tx.tenant_id, **self._bound(values)}
        return send(tx.connection, self._sql, bound)

    def _bound(self, values: dict[str, Any]) -> dict[str, Any]:
        for name in self._json:
            value = values.get(name)
            values[name] = None if value is None else orjson.dumps(value).decode()
        return {**self._defaults, **values}


@dataclass(frozen=True, slots=True)
class Request:
    """One statement and the values of its parameters but `tenant_id`."""

    sql: str
    values: Mapping[str, Any]

    def values_of(self, tenant_id: str) -> dict[str, Any]:
        """Return the values as one tenant."""
        return {**self.values, "tenant_id": tenant_id}


class Rows:
    """The insertion of any number of rows into one table, as one statement with one parameter.

    `skips_known`: rows whose key exists are left alone.
    """

    __slots__ = ("_insert",)

    def __init__(self, table: Table, columns: Iterable[str], *, skips_known: bool = False) -> None:
        self._insert = Direct(insertion(table, columns, "rows", skips_known=skips_known))

    def insert(self, tx: WriteTx, rows: list[dict[str, Any]]) -> None:
        """Insert the rows; no rows, no statement."""
        if rows:
            self._insert.run(tx, rows=as_json(rows))


def insertion(
    table: Table, columns: Iterable[str], parameter: str, *, skips_known: bool = False
) -> str:
    """Return the SQL that inserts the rows of a JSON parameter, with the tenant's id."""
    named = ", ".join(columns)
    rest = "ON CONFLICT DO NOTHING" if skips_known else ""
    return (
        f"INSERT INTO {table.name} (tenant_id, {named}) "  # noqa: S608 - names of the code alone
        f"SELECT CAST(:tenant_id AS text), {named} "
        f"FROM jsonb_populate_recordset(CAST(NULL AS {table.name}), "
        f"CAST(:{parameter} AS jsonb)) {rest}"
    )


def as_json(value: Any) -> str:
    """Return a value as the text of a JSON parameter; instants as RFC 3339."""
    return orjson.dumps(value).decode()
