"""Where the time of a block's way goes, from the ring to ready: by the database's own clock."""

from __future__ import annotations

from tests.support.stack import RunningSystem

READY_AT = "pg_xact_commit_timestamp(b.xmin)"
"""SQL: when others could see that the block of a row `b` of block_states is ready."""

PARTS = (
    ("ring_to_summarize", "s.started_at - s.rung_at"),
    ("summarize_loads", "s.called_at - s.started_at"),
    ("summarize_records", "s.finalized_at - s.called_at"),
    ("summarize_stores_and_rings", "e.started_at - e.rung_at"),
    ("extract_loads", "e.called_at - e.started_at"),
    ("extract_records", "e.finalized_at - e.called_at"),
    ("extract_stores", f"{READY_AT} - e.finalized_at"),
)
"""What the way consists of; each time but the last is the beginning of a transaction."""

_COLUMNS = ", ".join(f"extract(epoch FROM {span})::float * 1000 AS {name}" for name, span in PARTS)
_WAYS = f"""
    WITH done AS (
        SELECT j.*, (SELECT min(c.created_at) FROM model_calls AS c
                     WHERE c.tenant_id = j.tenant_id AND c.job_id = j.job_id) AS called_at
        FROM jobs AS j WHERE j.namespace LIKE 'bench:single-%%'
    )
    SELECT {_COLUMNS} FROM done AS s JOIN done AS e USING (tenant_id, subject)
    JOIN block_states AS b ON b.tenant_id = s.tenant_id AND b.block_id = s.subject
    WHERE s.kind = 'summarize' AND e.kind = 'extract'
    """  # noqa: S608 - joins constants of this file


def parts_of_the_way(system: RunningSystem) -> dict[str, list[float]]:
    """Return the milliseconds of each part, of blocks that came one at a time."""
    rows = system.sql(_WAYS)
    return {name: [row[name] for row in rows] for name, _ in PARTS}
