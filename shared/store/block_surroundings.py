"""A block's summary and those of its neighbours in the thread: what an extraction is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.store.blocks import BlockRow
from shared.store.database import ReadTx
from shared.store.direct import Direct

# Not materialized: each side reads its few blocks by the index, however long the thread is.
_AROUND_SQL: Final = """
    WITH here AS NOT MATERIALIZED (
        SELECT k.block_id, k.sequence, k.start_turn, k.end_turn FROM blocks AS k
        WHERE k.tenant_id = :tenant_id AND k.namespace = {namespace} AND k.thread_id = {thread_id}
          AND {condition}
    ), near AS (
        (SELECT *, -1 AS side FROM here WHERE sequence < {sequence}
         ORDER BY sequence DESC LIMIT {most})
        UNION ALL
        (SELECT *, 0 FROM here WHERE sequence = {sequence})
        UNION ALL
        (SELECT *, 1 FROM here WHERE sequence > {sequence} ORDER BY sequence LIMIT {most})
    )
    SELECT DISTINCT ON (p.side) p.side, s.keypoints, p.block_id, p.sequence, p.start_turn,
           p.end_turn, s.title, s.summary
    FROM near AS p CROSS JOIN LATERAL (
        SELECT s.title, s.summary, s.keypoints FROM block_summaries AS s
        WHERE s.tenant_id = :tenant_id AND s.block_id = p.block_id
        ORDER BY s.derivation_version > {version}, abs(s.derivation_version - {version})
        LIMIT 1
    ) AS s
    WHERE p.side = 0 OR cardinality(s.keypoints) > 0
    ORDER BY p.side, abs(p.sequence - {sequence})
    """
_AROUND = Direct(
    _AROUND_SQL.format(
        namespace=":namespace",
        thread_id=":thread_id",
        sequence="CAST(:sequence AS bigint)",
        most="CAST(:most AS integer)",
        version="CAST(:version AS integer)",
        condition="true",
    )
)
WINDOW: Final = 16
"""How many blocks of the thread are looked at to each side."""

_COLUMNS: Final = (
    "side",
    "keypoints",
    "block_id",
    "sequence",
    "start_turn",
    "end_turn",
    "title",
    "summary",
)


def around_of(condition: str) -> str:
    """Return the SQL that joins what lies around the block `b`, in the live version of `n`.

    `b` is `block_material.block_of`, `n` its namespace's row; looked at only under `condition`.
    Events count whatever became of them, and of whatever derivation.
    """
    around = _AROUND_SQL.format(
        namespace="b.of_namespace",
        thread_id="b.of_thread_id",
        sequence="b.of_sequence",
        most=WINDOW,
        version="n.derivation_version",
        condition=condition,
    )
    return f"""
    LEFT JOIN LATERAL (
        SELECT (SELECT json_agg(json_build_array({", ".join(f"a.{name}" for name in _COLUMNS)}))
                FROM ({around}) AS a) AS around,
               {condition} AND EXISTS (
                   SELECT FROM events AS e
                   WHERE e.tenant_id = :tenant_id AND e.namespace = b.of_namespace
               ) AS has_events
    ) AS a ON true
    """  # noqa: S608 - joins constants of the code; every value is a parameter


@dataclass(frozen=True, slots=True)
class SummarisedBlock:
    """A block beside its summary, of one derivation version."""

    keypoints: tuple[str, ...]
    block_id: str
    sequence: int
    start_turn: int
    end_turn: int
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Around:
    """A block's own summary, and the nearest ones before and after it that have key points.

    `may_have_events`: False where the namespace is known to have no event at all.
    """

    own: SummarisedBlock | None
    earlier: SummarisedBlock | None
    later: SummarisedBlock | None
    may_have_events: bool = True


def summaries_around(tx: ReadTx, block: BlockRow, *, version: int) -> Around:
    """Return what lies around a block; versions as in `summaries_of`."""
    rows = _AROUND.rows(
        tx,
        namespace=block.namespace,
        thread_id=block.thread_id,
        sequence=block.sequence,
        version=version,
        most=WINDOW,
    )
    return _around(rows)


def around_in(row: Any) -> Around:
    """Return what lies around a block from a row that holds the columns of `around_of`."""
    return _around(row.around or (), may_have_events=row.has_events)


def _around(rows: Sequence[Any], *, may_have_events: bool = True) -> Around:
    found = {side: SummarisedBlock(tuple(keypoints), *told) for side, keypoints, *told in rows}
    return Around(found.get(0), found.get(-1), found.get(1), may_have_events)
