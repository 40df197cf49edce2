"""Count the rows that each statement of a search reads, under a plan made for any parameters.

A statement that is sent often is planned once for all its parameters; such a plan knows neither how
large a namespace is nor how many ids are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

_READ = (
    "SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) "
    "FROM pg_stat_xact_user_tables"
)


@dataclass(frozen=True, slots=True)
class Read:
    """One statement, and the rows that it read of each table."""

    statement: str
    rows: dict[str, int]


@contextmanager
def rows_read() -> Iterator[list[Read]]:
    """Note, at the driver, what each reading statement reads; within one transaction each."""
    told: list[Read] = []
    execute = psycopg.Cursor.execute

    def noted(self: psycopg.Cursor[Any], query: Any, *args: Any, **named: Any) -> Any:
        if not str(query).lstrip().startswith(("SELECT", "WITH")):
            return execute(self, query, *args, **named)
        beside = psycopg.Cursor(self.connection)
        execute(beside, "SET LOCAL plan_cache_mode = force_generic_plan")
        before = dict(execute(beside, _READ).fetchall())
        answer = execute(self, query, *args, **named)
        after = dict(execute(beside, _READ).fetchall())
        rows = {name: count - before.get(name, 0) for name, count in after.items()}
        told.append(Read(" ".join(str(query).split()), {n: c for n, c in rows.items() if c}))
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", noted)
        yield told
