"""Read what ranking needs of messages: those found and the turns beside them, in one query.

No message is built whole for it, and none is cut into terms anew: their search documents tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ARRAY, BigInteger, Text, bindparam, text

from shared.domain.ranking.said import Said
from shared.store.database import ReadTx
from shared.store.search_keys import term_hash

# `held` has a byte a term asked for, in their order. Each LATERAL looks up by key.
_AROUND = text(
    """
    WITH place AS MATERIALIZED (
        SELECT DISTINCT m.thread_id, m.turn_sequence + step.step AS turn_sequence
        FROM (SELECT DISTINCT m.thread_id, m.turn_sequence FROM messages AS m
              WHERE m.tenant_id = :tenant_id AND m.namespace = :namespace
                AND m.message_id = ANY(:ids)
                AND (:any_thread OR m.thread_id = ANY(:threads))) AS m
        CROSS JOIN (VALUES (-1), (0), (1)) AS step(step)
    )
    SELECT m.message_id, m.thread_id, m.turn_sequence, m.position, m.role, m.name, m.occurred_at,
           m.content, coalesce(d.length, 0) AS length, d.held
    FROM place CROSS JOIN LATERAL (
        SELECT m.message_id, m.thread_id, m.turn_sequence, m.position, m.role, m.name,
               m.occurred_at, coalesce(m.redacted_content, m.content) AS content
        FROM messages AS m
        WHERE m.tenant_id = :tenant_id AND m.namespace = :namespace
          AND m.thread_id = place.thread_id AND m.turn_sequence = place.turn_sequence
        OFFSET 0) AS m
    LEFT JOIN LATERAL (
        SELECT d.length, (
            SELECT string_agg(coalesce(substring(
                d.frequencies, array_position(d.terms, q.term), 1), '\\x00'), '')
            FROM unnest(:terms) AS q(term)) AS held
        FROM search_documents AS d
        WHERE d.tenant_id = :tenant_id AND d.namespace = :namespace AND d.kind = 'message'
          AND d.version = '' AND d.document_id = m.message_id
        OFFSET 0) AS d ON true
    """
).bindparams(
    bindparam("ids", type_=ARRAY(Text)),
    bindparam("threads", type_=ARRAY(Text)),
    bindparam("terms", type_=ARRAY(BigInteger)),
)


def messages_to_rank(
    tx: ReadTx,
    namespace: str,
    message_ids: Collection[str],
    *,
    terms: Collection[str],
    threads: Sequence[str] | None = None,
    events: Mapping[str, float],
) -> list[Said]:
    """Return messages and all of the turns at or beside them, with the terms asked for.

    `threads` leaves out what stands elsewhere; `events` gives the score of each message's best
    event.
    """
    if not message_ids:
        return []
    rows = tx.connection.execute(
        _AROUND,
        {
            "tenant_id": tx.tenant_id,
            "namespace": namespace,
            "ids": list(message_ids),
            "any_thread": threads is None,
            "threads": list(threads or ()),
            "terms": [term_hash(term) for term in terms],
        },
    )
    asked = tuple(terms)
    return [
        Said(
            id=row[0],
            thread=row[1],
            turn=row[2],
            position=row[3],
            role=row[4],
            speaker=row[5],
            said_at=row[6],
            content=row[7],
            held={t: float(n) for t, n in zip(asked, row[9] or b"", strict=False) if n},
            length=row[8],
            events=events.get(row[0], 0.0),
        )
        for row in rows
    ]
