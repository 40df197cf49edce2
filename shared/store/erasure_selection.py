"""Which turns and events an erasure takes, a page at a time, and how many rows that will be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, text
from sqlalchemy.types import ARRAY, Text

from shared.domain.erasure import SelectorKind, label_of
from shared.domain.events import Quote
from shared.store.database import ReadTx

_SELECTED: Final[Mapping[SelectorKind, str]] = {
    SelectorKind.TURN: "t.turn_id = :selector",
    SelectorKind.THREAD: "t.thread_id = :selector",
    SelectorKind.LABEL: "t.labels ->> :label = :selector",
    SelectorKind.EVENT: "false",
    SelectorKind.NAMESPACE: "true",
    SelectorKind.RETENTION: "t.created_at < CAST(:selector AS timestamptz)",
}
_OF_NAMESPACE: Final = "t.tenant_id = :tenant_id AND t.namespace = :namespace"


@dataclass(frozen=True, slots=True)
class SelectedTurn:
    """A turn that goes, with its place."""

    turn_id: str
    thread_id: str
    sequence: int


@dataclass(frozen=True, slots=True)
class BlockLoss:
    """A block that loses turns: whether any is left in it."""

    block_id: str
    thread_id: str
    start_turn: int
    end_turn: int
    turns_left: int


def turns_page(
    tx: ReadTx,
    namespace: str,
    kind: SelectorKind,
    selector: str,
    *,
    after: tuple[str, int] | None,
    limit: int,
) -> list[SelectedTurn]:
    """Return the next selected turns, by thread and sequence, behind the place `after`."""
    thread_id, sequence = after or ("", 0)
    rows = tx.connection.execute(
        text(
            f"""
            SELECT t.turn_id, t.thread_id, t.sequence FROM turns AS t
            WHERE {_OF_NAMESPACE} AND {_SELECTED[kind]}
              AND (t.thread_id, t.sequence) > (:thread_id, :sequence)
            ORDER BY t.thread_id, t.sequence LIMIT :limit
            """  # noqa: S608 - joins constants of the code; every value is a parameter
        ),
        _values(tx, namespace, kind, selector)
        | {"thread_id": thread_id, "sequence": sequence, "limit": limit},
    )
    return [SelectedTurn(row.turn_id, row.thread_id, row.sequence) for row in rows]


def count_selected(tx: ReadTx, namespace: str, kind: SelectorKind, selector: str) -> dict[str, int]:
    """Return how many rows of each table an erasure would take, as things stand.

    Events that another block says as well are counted too, though they will stay.
    """
    row = tx.connection.execute(
        text(
            f"""
            WITH picked AS (
                SELECT t.turn_id, t.thread_id, t.sequence, t.receipt_id FROM turns AS t
                WHERE {_OF_NAMESPACE} AND {_SELECTED[kind]}
            ), said AS (
                SELECT m.message_id FROM messages AS m
                JOIN picked ON picked.turn_id = m.turn_id WHERE m.tenant_id = :tenant_id
            ), hit AS (
                SELECT DISTINCT b.block_id, b.start_turn, b.end_turn, b.thread_id
                FROM blocks AS b JOIN picked AS p ON p.thread_id = b.thread_id
                    AND p.sequence BETWEEN b.start_turn AND b.end_turn
                WHERE b.tenant_id = :tenant_id AND b.namespace = :namespace
            ), emptied AS (
                SELECT hit.block_id FROM hit WHERE NOT EXISTS (
                    SELECT FROM turns AS t WHERE {_OF_NAMESPACE} AND t.thread_id = hit.thread_id
                      AND t.sequence BETWEEN hit.start_turn AND hit.end_turn
                      AND t.turn_id NOT IN (SELECT turn_id FROM picked))
            ), told AS (
                SELECT s.event_id FROM event_sources AS s
                WHERE s.tenant_id = :tenant_id AND s.message_id IN (SELECT message_id FROM said)
                UNION
                SELECT e.event_id FROM events AS e
                WHERE e.tenant_id = :tenant_id AND e.namespace = :namespace AND :kind = 'event'
                  AND e.event_id = :selector
            )
            SELECT (SELECT count(*) FROM picked) AS turns,
                (SELECT count(*) FROM said) AS messages,
                (SELECT count(receipt_id) FROM picked) AS request_receipts,
                (SELECT count(*) FROM emptied) AS blocks,
                (SELECT count(*) FROM hit) - (SELECT count(*) FROM emptied) AS rebuilt_blocks,
                (SELECT count(*) FROM told) AS events
            """  # noqa: S608 - joins constants of the code; every value is a parameter
        ),
        _values(tx, namespace, kind, selector) | {"kind": kind.value},
    ).one()
    return {name: number for name, number in row._mapping.items() if number}


def blocks_losing(
    tx: ReadTx, namespace: str, turns: Sequence[SelectedTurn]
) -> dict[str, BlockLoss]:
    """Return the blocks that hold any of the turns, with what each has left without them."""
    rows = tx.connection.execute(
        text(
            """
            WITH gone AS (SELECT * FROM unnest(:threads, CAST(:sequences AS bigint[]))
                          AS g(thread_id, sequence)),
            hit AS (
                SELECT DISTINCT b.block_id, b.thread_id, b.start_turn, b.end_turn
                FROM gone JOIN blocks AS b ON b.thread_id = gone.thread_id
                    AND gone.sequence BETWEEN b.start_turn AND b.end_turn
                WHERE b.tenant_id = :tenant_id AND b.namespace = :namespace
            )
            SELECT hit.*, (
                SELECT count(*) FROM turns AS t
                WHERE t.tenant_id = :tenant_id AND t.namespace = :namespace
                  AND t.thread_id = hit.thread_id
                  AND t.sequence BETWEEN hit.start_turn AND hit.end_turn
                  AND t.turn_id <> ALL(:turn_ids)) AS turns_left
            FROM hit
            """
        ).bindparams(
            bindparam("threads", type_=ARRAY(Text)), bindparam("turn_ids", type_=ARRAY(Text))
        ),
        {
            "tenant_id": tx.tenant_id,
            "namespace": namespace,
            "threads": [turn.thread_id for turn in turns],
            "sequences": [turn.sequence for turn in turns],
            "turn_ids": [turn.turn_id for turn in turns],
        },
    )
    return {row.block_id: BlockLoss(**row._mapping) for row in rows}


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One citation of an event: the message, and the block that holds it, if one does."""

    event_id: str
    message_id: str
    block_id: str | None


def citations(
    tx: ReadTx, namespace: str, *, message_ids: Sequence[str], block_ids: Sequence[str]
) -> list[SourceRow]:
    """Return all citations of the events that cite a message, or belong to a block, of these."""
    rows = tx.connection.execute(
        text(
            """
            WITH told AS (
                SELECT s.event_id FROM event_sources AS s
                WHERE s.tenant_id = :tenant_id AND s.message_id = ANY(:message_ids)
                UNION
                SELECT e.event_id FROM events AS e
                WHERE e.tenant_id = :tenant_id AND e.block_id = ANY(:block_ids)
            )
            SELECT s.event_id, s.message_id, b.block_id
            FROM told JOIN event_sources AS s
                ON s.tenant_id = :tenant_id AND s.event_id = told.event_id
            JOIN messages AS m ON m.tenant_id = :tenant_id AND m.message_id = s.message_id
            LEFT JOIN blocks AS b ON b.tenant_id = :tenant_id AND b.namespace = m.namespace
                AND b.thread_id = m.thread_id
                AND m.turn_sequence BETWEEN b.start_turn AND b.end_turn
            ORDER BY s.event_id, s.position
            """
        ).bindparams(
            bindparam("message_ids", type_=ARRAY(Text)), bindparam("block_ids", type_=ARRAY(Text))
        ),
        {
            "tenant_id": tx.tenant_id,
            "namespace": namespace,
            "message_ids": list(message_ids),
            "block_ids": list(block_ids),
        },
    )
    return [SourceRow(row.event_id, row.message_id, row.block_id) for row in rows]


def turn_texts(tx: ReadTx, turn_ids: Sequence[str]) -> tuple[list[str], list[Any], list[Any]]:
    """Return the message ids of turns, what they say, and what stands beside it."""
    rows = tx.connection.execute(
        text(
            """
            SELECT m.message_id, jsonb_build_array(m.content, m.redacted_content, m.tool_calls,
                m.name) AS said, jsonb_build_array(m.metadata, m.tool_call_id, t.labels,
                t.metadata, t.agent, t.receipt_id) AS beside
            FROM turns AS t
            JOIN messages AS m ON m.tenant_id = t.tenant_id AND m.turn_id = t.turn_id
            WHERE t.tenant_id = :tenant_id AND t.turn_id = ANY(:turn_ids)
            """
        ).bindparams(bindparam("turn_ids", type_=ARRAY(Text))),
        {"tenant_id": tx.tenant_id, "turn_ids": list(turn_ids)},
    ).all()
    return [row.message_id for row in rows], [row.said for row in rows], [r.beside for r in rows]


def quotes_as_stored(quotes: Sequence[Quote]) -> list[dict[str, str]]:
    """Return quotes as an event's row holds them."""
    return [{"message_id": quote.message_id, "text": quote.text} for quote in quotes]


def _values(tx: ReadTx, namespace: str, kind: SelectorKind, selector: str) -> dict[str, Any]:
    values: dict[str, Any] = {"tenant_id": tx.tenant_id, "namespace": namespace}
    values["selector"] = selector
    if kind is SelectorKind.LABEL:
        name, wanted = label_of(selector) or ("", "")
        values |= {"label": name, "selector": wanted}
    return values
