"""Read what ranking needs of messages: those found and the turns beside them, in one query.

No message is built whole for it, and none is cut into terms anew: their search documents tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from sqlalchemy import ARRAY, BigInteger, Text, bindparam, text

from shared.domain.ranking.said import Said
from shared.store.database import ReadTx
from shared.store.direct import Direct
from shared.store.search_keys import term_hash

# `held` has a byte a term asked for, in their order, and is null where nothing is asked for.
# The documents are read by one scan in order of their ids, half the price of a look-up for each;
# a FULL join keeps it one, since it is never done row by row.
_AROUND = Direct(
    text(
        """
        WITH place AS MATERIALIZED (
            SELECT DISTINCT m.thread_id, m.turn_sequence + step.step AS turn_sequence
            FROM (SELECT DISTINCT m.thread_id, m.turn_sequence FROM messages AS m
                  WHERE m.tenant_id = :tenant_id AND m.namespace = :namespace
                    AND m.message_id = ANY(:ids)
                    AND (:any_thread OR m.thread_id = ANY(:threads))) AS m
            CROSS JOIN (VALUES (-1), (0), (1)) AS step(step)
        ), said AS MATERIALIZED (
            SELECT m.* FROM place CROSS JOIN LATERAL (
                SELECT m.message_id, m.thread_id, m.turn_sequence, m.position, m.role, m.name,
                       m.occurred_at, coalesce(m.redacted_content, m.content) AS content
                FROM messages AS m
                WHERE m.tenant_id = :tenant_id AND m.namespace = :namespace
                  AND m.thread_id = place.thread_id AND m.turn_sequence = place.turn_sequence
                OFFSET 0) AS m
        )
        SELECT said.*, d.held, coalesce(d.length, 0) AS length
        FROM said FULL JOIN (
            SELECT d.document_id, d.length, (
                SELECT string_agg(coalesce(substring(
                    d.frequencies, array_position(d.terms, q.term), 1), '\\x00'), '')
                FROM unnest(:terms) AS q(term)) AS held
            FROM search_documents AS d
            WHERE d.tenant_id = :tenant_id AND d.namespace = :namespace AND d.kind = 'message'
              AND d.version = '' AND d.document_id = ANY(ARRAY(SELECT message_id FROM said))
            OFFSET 0) AS d ON d.document_id = said.message_id
        """
    ).bindparams(
        bindparam("ids", type_=ARRAY(Text)),
        bindparam("threads", type_=ARRAY(Text)),
        bindparam("terms", type_=ARRAY(BigInteger)),
    )
)
_OF_MESSAGE: Final = 8
"""How many columns of a row are the message's own, in the order of `Said`."""


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
    rows = _AROUND.rows(
        tx,
        namespace=namespace,
        ids=list(message_ids),
        any_thread=threads is None,
        threads=list(threads or ()),
        terms=[term_hash(term) for term in terms],
    )
    asked = tuple(terms)
    # Few terms are held in few ways, so most messages share what tells them.
    told: dict[bytes | None, Mapping[str, float]] = {}
    found: list[Said] = []
    for row in rows:
        counts = row.held
        held = told.get(counts)
        if held is None:
            held = {t: float(n) for t, n in zip(asked, counts or b"", strict=False) if n}
            told[counts] = held
        found.append(Said._make((*row[:_OF_MESSAGE], held, row.length, events.get(row[0], 0.0))))
    return found
