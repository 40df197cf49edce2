"""A block's summary and those of its neighbours in the thread: what an extraction is shown."""

from __future__ import annotations

from dataclasses import dataclass

from shared.store.blocks import BlockRow
from shared.store.database import ReadTx
from shared.store.direct import Direct

_AROUND = Direct(
    """
    WITH here AS (
        SELECT b.block_id, b.sequence, b.start_turn, b.end_turn FROM blocks AS b
        WHERE b.tenant_id = :tenant_id AND b.namespace = :namespace AND b.thread_id = :thread_id
    ), near AS (
        (SELECT *, -1 AS side FROM here WHERE sequence < CAST(:sequence AS bigint)
         ORDER BY sequence DESC LIMIT CAST(:most AS integer))
        UNION ALL
        (SELECT *, 0 FROM here WHERE sequence = CAST(:sequence AS bigint))
        UNION ALL
        (SELECT *, 1 FROM here WHERE sequence > CAST(:sequence AS bigint)
         ORDER BY sequence LIMIT CAST(:most AS integer))
    )
    SELECT DISTINCT ON (n.side) n.side, n.block_id, n.sequence, n.start_turn, n.end_turn,
           s.title, s.summary, s.keypoints
    FROM near AS n CROSS JOIN LATERAL (
        SELECT s.title, s.summary, s.keypoints FROM block_summaries AS s
        WHERE s.tenant_id = :tenant_id AND s.block_id = n.block_id
        ORDER BY s.derivation_version > CAST(:version AS integer),
                 abs(s.derivation_version - CAST(:version AS integer))
        LIMIT 1
    ) AS s
    WHERE n.side = 0 OR cardinality(s.keypoints) > 0
    ORDER BY n.side, abs(n.sequence - CAST(:sequence AS bigint))
    """
)


@dataclass(frozen=True, slots=True)
class SummarisedBlock:
    """A block beside its summary, of one derivation version."""

    block_id: str
    sequence: int
    start_turn: int
    end_turn: int
    title: str
    summary: str
    keypoints: tuple[str, ...]


def summaries_around(
    tx: ReadTx, block: BlockRow, *, version: int, window: int
) -> tuple[SummarisedBlock | None, SummarisedBlock | None, SummarisedBlock | None]:
    """Return a block's own summary, and the nearest ones before and after that have key points.

    Looked for are `window` blocks of the thread to each side; versions as in `summaries_of`.
    """
    rows = _AROUND.rows(
        tx,
        namespace=block.namespace,
        thread_id=block.thread_id,
        sequence=block.sequence,
        version=version,
        most=window,
    )
    found = {
        row.side: SummarisedBlock(
            block_id=row.block_id,
            sequence=row.sequence,
            start_turn=row.start_turn,
            end_turn=row.end_turn,
            title=row.title,
            summary=row.summary,
            keypoints=tuple(row.keypoints),
        )
        for row in rows
    }
    return found.get(0), found.get(-1), found.get(1)
