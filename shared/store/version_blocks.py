"""How far a version has come, block by block, and the jobs that bring it on.

A job of a version has the subject `<version>/<block>`, so that it neither stands in the way of the
block's live jobs nor counts as one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ARRAY, Text, bindparam, text, update
from sqlalchemy import func as sql
from sqlalchemy.dialects.postgresql import insert

from shared.domain.jobs import BACKFILL, JobKind
from shared.ids import Prefix, new_id
from shared.store.database import ReadTx, WriteTx
from shared.store.graph_versions import GraphVersion
from shared.store.tables import jobs, version_blocks

PRIORITY = -10
"""Below every live job of the tenant."""
_ROWS_A_STATEMENT = 500

_LIVE_JOB = """EXISTS (
    SELECT FROM jobs j WHERE j.tenant_id = v.tenant_id
    AND j.subject = v.graph_version_id || '/' || v.block_id
    AND j.state IN ('available', 'running', 'retryable'))"""

_PROGRESS = text(
    f"""
    SELECT v.graph_version_id, count(*) AS total,
           count(*) FILTER (WHERE v.done_at IS NOT NULL) AS done,
           count(*) FILTER (WHERE v.done_at IS NULL AND {_LIVE_JOB}) AS waiting
    FROM version_blocks v
    WHERE v.tenant_id = :tenant_id AND v.graph_version_id = ANY(:version_ids)
    GROUP BY v.graph_version_id
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(bindparam("version_ids", type_=ARRAY(Text)))

_STUCK = text(
    f"""
    SELECT v.block_id FROM version_blocks v JOIN blocks b USING (tenant_id, block_id)
    WHERE v.tenant_id = :tenant_id AND v.graph_version_id = :version_id AND v.done_at IS NULL
      AND NOT {_LIVE_JOB}
    ORDER BY b.sequence
    """  # noqa: S608 - joins constants of the code; every value is a parameter
)

_OTHERS_WAITING = text(
    """
    SELECT FROM version_blocks v
    WHERE v.tenant_id = :tenant_id AND v.graph_version_id = :version_id AND v.done_at IS NULL
      AND v.block_id <> :block_id LIMIT 1
    """
)

# Which ready blocks a version is to hold: those with events, and before extraction those that
# may have some.
_READY = """
    SELECT b.block_id FROM blocks b
    JOIN block_states s ON s.tenant_id = b.tenant_id AND s.block_id = b.block_id
    WHERE b.tenant_id = :tenant_id AND b.namespace = :namespace AND s.status = 'ready'
      AND NOT EXISTS (SELECT FROM version_blocks v WHERE v.tenant_id = b.tenant_id
                      AND v.graph_version_id = :version_id AND v.block_id = b.block_id)
"""
_WITH_EVENTS = """ AND EXISTS (
        SELECT FROM events e WHERE e.tenant_id = b.tenant_id AND e.block_id = b.block_id
        AND e.status IN ('active', 'superseded') AND (e.derivation_version = :events_of OR EXISTS (
            SELECT FROM carried_events c WHERE c.tenant_id = e.tenant_id
            AND c.event_id = e.event_id AND c.derivation_version = :events_of)))"""
_EXTRACTABLE = """ AND coalesce((
        SELECT y.should_extract FROM block_summaries y WHERE y.tenant_id = b.tenant_id
        AND y.block_id = b.block_id ORDER BY y.derivation_version DESC LIMIT 1), true)"""
_NEEDED: Mapping[JobKind, Any] = {
    JobKind.PROJECT: text(f"{_READY} {_WITH_EVENTS} ORDER BY b.sequence"),
    JobKind.EXTRACT: text(f"{_READY} {_EXTRACTABLE} ORDER BY b.sequence"),
    JobKind.SUMMARIZE: text(f"{_READY} ORDER BY b.sequence"),
}

# Everything a version holds while it is live but what is still on its way into it.
_HOLD_ALL = text(
    """
    INSERT INTO version_blocks (tenant_id, graph_version_id, block_id, done_at)
    SELECT b.tenant_id, :version_id, b.block_id, now() FROM blocks b
    JOIN block_states s ON s.tenant_id = b.tenant_id AND s.block_id = b.block_id
    WHERE b.tenant_id = :tenant_id AND b.namespace = :namespace AND s.status = 'ready'
      AND NOT EXISTS (SELECT FROM jobs j WHERE j.tenant_id = b.tenant_id
                      AND j.subject = b.block_id AND j.kind = 'project'
                      AND j.state IN ('available', 'running', 'retryable'))
    ON CONFLICT (tenant_id, graph_version_id, block_id) DO UPDATE SET done_at = now()
    """
)


@dataclass(frozen=True, slots=True)
class Progress:
    """Blocks of a version: all, held, on their way, and given up by their jobs."""

    total: int = 0
    done: int = 0
    waiting: int = 0

    @property
    def failed(self) -> int:
        """Blocks that no live job is about; a new call of reprocess tries them again."""
        return self.total - self.done - self.waiting


def subject_of(graph_version_id: str, block_id: str) -> str:
    """Return the subject of a version's job about a block."""
    return f"{graph_version_id}/{block_id}"


def progress_of(tx: ReadTx, version_ids: Sequence[str]) -> dict[str, Progress]:
    """Return how far versions have come; one that was never built in the back has zeros."""
    rows = tx.connection.execute(
        _PROGRESS, {"tenant_id": tx.tenant_id, "version_ids": list(version_ids)}
    )
    found = {row.graph_version_id: Progress(row.total, row.done, row.waiting) for row in rows}
    return {one: found.get(one, Progress()) for one in version_ids}


def needed_blocks(
    tx: ReadTx, version: GraphVersion, first: JobKind, *, events_of: int | None = None
) -> list[str]:
    """Return the ready blocks that a version lacks and its first step is for, in order.

    `events_of` names the derivation whose events count; the version's own unless given.
    """
    values: dict[str, Any] = {
        "tenant_id": tx.tenant_id,
        "namespace": version.namespace,
        "version_id": version.graph_version_id,
    }
    if first is JobKind.PROJECT:
        values["events_of"] = events_of or version.derivation_version
    return list(tx.connection.execute(_NEEDED[first], values).scalars())


def stuck_blocks(tx: ReadTx, graph_version_id: str) -> list[str]:
    """Return the blocks that a version waits for in vain: their jobs are dead or gone."""
    values = {"tenant_id": tx.tenant_id, "version_id": graph_version_id}
    return list(tx.connection.execute(_STUCK, values).scalars())


def others_waiting(tx: ReadTx, graph_version_id: str, *, but: str) -> bool:
    """Tell whether a version waits for any block beside one."""
    values = {"tenant_id": tx.tenant_id, "version_id": graph_version_id, "block_id": but}
    return tx.connection.execute(_OTHERS_WAITING, values).first() is not None


def await_blocks(tx: WriteTx, graph_version_id: str, block_ids: Sequence[str]) -> None:
    """Let a version wait for blocks; those it knows are left alone."""
    for rows in _in_parts(block_ids):
        tx.connection.execute(
            insert(version_blocks).on_conflict_do_nothing(),
            [
                {
                    "tenant_id": tx.tenant_id,
                    "graph_version_id": graph_version_id,
                    "block_id": block_id,
                }
                for block_id in rows
            ],
        )


def hold_block(tx: WriteTx, graph_version_id: str, block_id: str) -> None:
    """Note that a version holds a block now."""
    tx.connection.execute(
        update(version_blocks)
        .where(
            version_blocks.c.tenant_id == tx.tenant_id,
            version_blocks.c.graph_version_id == graph_version_id,
            version_blocks.c.block_id == block_id,
        )
        .values(done_at=sql.now())
    )


def hold_all_blocks(tx: WriteTx, version: GraphVersion) -> None:
    """Note what a live version holds, before it retires."""
    tx.connection.execute(
        _HOLD_ALL,
        {
            "tenant_id": tx.tenant_id,
            "namespace": version.namespace,
            "version_id": version.graph_version_id,
        },
    )


def enqueue_backfill(
    tx: WriteTx,
    version: GraphVersion,
    kind: JobKind,
    block_ids: Sequence[str],
    *,
    payload: Mapping[str, Any],
    max_attempts: int,
) -> None:
    """Add a job a block on the backfill queue; a live one of the same subject is left alone."""
    for part in _in_parts(block_ids):
        tx.connection.execute(
            insert(jobs).on_conflict_do_nothing(
                index_elements=["tenant_id", "kind", "subject"],
                index_where=text("state IN ('available', 'running', 'retryable')"),
            ),
            [
                {
                    "tenant_id": tx.tenant_id,
                    "job_id": new_id(Prefix.JOB),
                    "namespace": version.namespace,
                    "kind": kind.value,
                    "subject": subject_of(version.graph_version_id, block_id),
                    "queue": BACKFILL,
                    "priority": PRIORITY,
                    "max_attempts": max_attempts,
                    "payload": {**payload, "block_id": block_id},
                }
                for block_id in part
            ],
        )


_CANCEL = text(
    """
    UPDATE jobs j SET state = 'cancelled', reason = :reason, lease_token = NULL,
        lease_until = NULL, finalized_at = now()
    FROM version_blocks v
    WHERE v.tenant_id = :tenant_id AND v.graph_version_id = :version_id
      AND j.tenant_id = v.tenant_id AND j.subject = v.graph_version_id || '/' || v.block_id
      AND j.state IN ('available', 'running', 'retryable')
    """
)


def cancel_backfill(tx: WriteTx, graph_version_id: str, *, reason: str) -> int:
    """End the live jobs of a version; a running one's late finish changes nothing."""
    values = {"tenant_id": tx.tenant_id, "version_id": graph_version_id, "reason": reason}
    return tx.connection.execute(_CANCEL, values).rowcount


def _in_parts(block_ids: Sequence[str]) -> list[Sequence[str]]:
    return [
        block_ids[start : start + _ROWS_A_STATEMENT]
        for start in range(0, len(block_ids), _ROWS_A_STATEMENT)
    ]
