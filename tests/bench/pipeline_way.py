"""Where the time of a block's way goes, from the ring to ready: by the database's own clock."""

from __future__ import annotations

from tests.support.stack import RunningSystem

COMMITTED_AT = "pg_xact_commit_timestamp(b.xmin)"
"""SQL: when others could see what a row `b` says; `ready_at` is when its transaction began."""

PARTS = (
    ("ring_to_summarize", "s.started_at - s.rung_at"),
    ("summarize_loads", "s.called_at - s.started_at"),
    ("summarize_records", "s.finalized_at - s.called_at"),
    ("summarize_stores_and_rings", "e.started_at - e.rung_at"),
    ("extract_loads", "e.called_at - e.started_at"),
    ("extract_records", "e.finalized_at - e.called_at"),
    ("extract_stores", f"{COMMITTED_AT} - e.finalized_at"),
)
"""What the way consists of; each time but the last is the beginning of a transaction."""

SPANS = (
    *PARTS,
    ("from_ring_ms", "b.ready_at - s.rung_at"),
    ("to_commit_ms", f"{COMMITTED_AT} - s.rung_at"),
)
_COLUMNS = ", ".join(f"extract(epoch FROM {span})::float * 1000 AS {name}" for name, span in SPANS)
_WAYS = f"""
    WITH done AS (
        SELECT j.*, (SELECT min(c.created_at) FROM model_calls AS c
                     WHERE c.tenant_id = j.tenant_id AND c.job_id = j.job_id) AS called_at
        FROM jobs AS j WHERE j.namespace LIKE 'bench:single-%%'
    )
    SELECT s.namespace, extract(epoch FROM s.rung_at)::float AS rung, {_COLUMNS}
    FROM done AS s JOIN done AS e USING (tenant_id, subject)
    JOIN block_states AS b ON b.tenant_id = s.tenant_id AND b.block_id = s.subject
    WHERE s.kind = 'summarize' AND e.kind = 'extract'
    """  # noqa: S608 - joins constants of this file


def ways_of_blocks(system: RunningSystem, sealed: dict[str, float]) -> dict[str, list[float]]:
    """Return the milliseconds of each part, of blocks that came one at a time.

    `sealed` says when each block was stored, in seconds of the database's clock, by its namespace.
    """
    rows = system.sql(_WAYS)
    polls = [1_000 * max(0.0, row["rung"] - sealed[row["namespace"]]) for row in rows]
    parts = {name: [row[name] for row in rows] for name, _ in SPANS}
    wholes = [poll + ring for poll, ring in zip(polls, parts["from_ring_ms"], strict=True)]
    return parts | {"poll_ms": polls, "whole_ms": wholes}
