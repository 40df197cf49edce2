"""The database asked directly, past every wall, by a connection that outlives its server."""

from __future__ import annotations

import time
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from deploy.chaos.plan import Boundary

_LOOK_EVERY_S = 0.01
_JOB_IS_DUE = "SELECT 1 FROM jobs WHERE state IN ('available', 'retryable') AND rung_at IS "
_JOB_RUNS = "SELECT 1 FROM jobs WHERE state = 'running' AND kind = "
_SIGNS: dict[Boundary, str] = {
    Boundary.POSTED: "SELECT 1 FROM turns WHERE created_at > now() - interval '0.1 s'",
    Boundary.DUE: _JOB_IS_DUE + "NULL AND scheduled_at <= now()",
    Boundary.RUNG: _JOB_IS_DUE + "NOT NULL",
    Boundary.SUMMARIZING: _JOB_RUNS + "'summarize'",
    Boundary.EXTRACTING: _JOB_RUNS + "'extract'",
    Boundary.PROJECTING: _JOB_RUNS + "'project'",
    Boundary.FINISHED: "SELECT 1 FROM jobs WHERE finalized_at > now() - interval '0.1 s'",
}


class Ground:
    """Asks the database; for one thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._link: psycopg.Connection[DictRow] | None = None

    def ask(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Return the rows of a query. Raises psycopg.Error while the database is away."""
        if self._link is None or self._link.closed:
            self._link = psycopg.connect(
                self._url, autocommit=True, row_factory=dict_row, connect_timeout=2
            )
        try:
            return self._link.execute(query.encode(), values).fetchall()
        except psycopg.OperationalError:
            self.close()
            raise

    def wait_for(self, boundary: Boundary, *, within_s: float) -> bool:
        """Return True as soon as some work stands at the boundary, False when none came there."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            try:
                if self.ask(f"{_SIGNS[boundary]} LIMIT 1"):
                    return True
            except psycopg.Error:
                time.sleep(10 * _LOOK_EVERY_S)  # the database is what an earlier fault broke
            time.sleep(_LOOK_EVERY_S)
        return False

    def live_jobs(self) -> int:
        """Count the jobs that are not over."""
        [row] = self.ask(
            "SELECT count(*) AS n FROM jobs WHERE state IN ('available', 'running', 'retryable')"
        )
        return int(row["n"])

    def close(self) -> None:
        """Give the connection back."""
        if self._link is not None:
            self._link.close()
            self._link = None
