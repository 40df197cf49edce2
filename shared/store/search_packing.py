"""Pack what waits into postings by term, and take out of them what was removed.

One transaction at a time packs a corpus; whoever finds it taken goes on without. Each step is one
statement, so that it sees one state of the rows that wait.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import text

from shared.store.database import WriteTx
from shared.store.search_keys import (
    LENGTH_BITS,
    MAX_LENGTH,
    NUMBER_SHIFT,
    DocumentKind,
    corpus_hash,
)

WAITING_LIMIT: Final = 128
"""From how many waiting documents on a writer packs them: each search looks through them all."""

PART_SIZE: Final = 500
"""How many documents a part of a term's postings holds: it fits into a page, uncompressed."""

_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:tenant_id, :corpus))")

_ADD = text(
    f"""
    WITH taken AS (
        DELETE FROM search_waiting AS w
        WHERE w.tenant_id = :tenant_id AND w.corpus = :corpus AND (NOT w.is_removal OR EXISTS (
            SELECT FROM search_waiting AS f
            WHERE f.tenant_id = :tenant_id AND f.corpus = :corpus AND f.number = w.number
              AND NOT f.is_removal))
        RETURNING w.number, w.is_removal
    ), fresh AS MATERIALIZED (
        SELECT d.number, d.length, d.terms, d.frequencies
        FROM taken CROSS JOIN LATERAL (
            SELECT d.number, d.length, d.terms, d.frequencies FROM search_documents AS d
            WHERE d.tenant_id = :tenant_id AND d.number = taken.number OFFSET 0) AS d
        WHERE NOT taken.is_removal
    ), grouped AS (
        SELECT t.term, array_agg(d.number << {NUMBER_SHIFT}
            | (get_byte(d.frequencies, t.place::integer - 1) << {LENGTH_BITS})::bigint
            | least(d.length, {MAX_LENGTH}) ORDER BY d.number) AS postings
        FROM fresh AS d CROSS JOIN unnest(d.terms) WITH ORDINALITY AS t(term, place)
        GROUP BY t.term
    ), placed AS (
        SELECT grouped.term, grouped.postings, coalesce(p.part, -1) AS part,
               coalesce(p.known, 0) AS known,
               CASE WHEN p.part IS NULL THEN 0
                    ELSE greatest({PART_SIZE} - p.held, 0) END AS room
        FROM grouped LEFT JOIN LATERAL (
            SELECT p.part, p.before + cardinality(p.postings) AS known,
                   cardinality(p.postings) AS held
            FROM search_postings AS p
            WHERE p.tenant_id = :tenant_id AND p.corpus = :corpus AND p.term = grouped.term
            ORDER BY p.part DESC LIMIT 1) AS p ON true
    ), parted AS (
        SELECT t.term, t.part + k.k AS part, t.known + greatest(s.start, 1) - 1 AS before,
               t.postings[s.start : s.start + CASE k.k WHEN 0 THEN t.room
                                              ELSE {PART_SIZE} END - 1] AS postings
        FROM placed AS t
        CROSS JOIN LATERAL generate_series(
            CASE t.room WHEN 0 THEN 1 ELSE 0 END,
            (greatest(cardinality(t.postings) - t.room, 0) + {PART_SIZE - 1}) / {PART_SIZE}
        ) AS k(k)
        CROSS JOIN LATERAL (
            SELECT CASE k.k WHEN 0 THEN 1 ELSE t.room + (k.k - 1) * {PART_SIZE} + 1 END AS start
        ) AS s
    ), added AS (
        INSERT INTO search_postings AS p
            (tenant_id, corpus, term, part, before, first_number, last_number, postings)
        SELECT :tenant_id, :corpus, term, part, before, postings[1] >> {NUMBER_SHIFT},
               postings[cardinality(postings)] >> {NUMBER_SHIFT}, postings
        FROM parted ORDER BY term, part
        ON CONFLICT (tenant_id, corpus, term, part) DO UPDATE SET
            postings = p.postings || excluded.postings,
            first_number = least(p.first_number, excluded.first_number),
            last_number = greatest(p.last_number, excluded.last_number)
    )
    INSERT INTO search_corpora AS c
        (tenant_id, corpus, namespace, kind, version, documents, total_length)
    SELECT :tenant_id, :corpus, :namespace, :kind, :version, count(*), coalesce(sum(length), 0)
    FROM fresh HAVING count(*) > 0
    ON CONFLICT (tenant_id, corpus) DO UPDATE SET
        documents = c.documents + excluded.documents,
        total_length = c.total_length + excluded.total_length
    """  # noqa: S608 - joins constants of the code; every value is a parameter
)

# The last part of a term tells its count, so it learns of what the parts before it lost.
_TAKE_OUT = text(
    f"""
    WITH gone AS (
        DELETE FROM search_waiting AS w
        WHERE w.tenant_id = :tenant_id AND w.corpus = :corpus AND w.is_removal AND NOT EXISTS (
            SELECT FROM search_waiting AS f
            WHERE f.tenant_id = :tenant_id AND f.corpus = :corpus AND f.number = w.number
              AND NOT f.is_removal)
        RETURNING w.number, w.length, w.terms
    ), hit AS (
        SELECT t.term, p.part, array_agg(gone.number) AS numbers
        FROM gone CROSS JOIN unnest(gone.terms) AS t(term) CROSS JOIN LATERAL (
            SELECT p.part FROM search_postings AS p
            WHERE p.tenant_id = :tenant_id AND p.corpus = :corpus AND p.term = t.term
              AND p.first_number <= gone.number AND p.last_number >= gone.number
              AND EXISTS (SELECT FROM unnest(p.postings) AS x
                          WHERE x >> {NUMBER_SHIFT} = gone.number)
            OFFSET 0) AS p
        GROUP BY t.term, p.part
    ), last AS (
        SELECT t.term, p.part
        FROM (SELECT DISTINCT term FROM hit) AS t CROSS JOIN LATERAL (
            SELECT p.part FROM search_postings AS p
            WHERE p.tenant_id = :tenant_id AND p.corpus = :corpus AND p.term = t.term
            ORDER BY p.part DESC LIMIT 1) AS p
    ), changed AS (
        SELECT term, part, coalesce(hit.numbers, '{{}}') AS numbers,
               coalesce(sum(cardinality(hit.numbers)) OVER (
                   PARTITION BY term ORDER BY part
                   ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW), 0) AS earlier
        FROM hit FULL JOIN last USING (term, part)
    ), stripped AS (
        UPDATE search_postings AS p SET
            before = p.before - changed.earlier,
            postings = ARRAY(SELECT x FROM unnest(p.postings) WITH ORDINALITY AS u(x, place)
                             WHERE (x >> {NUMBER_SHIFT}) <> ALL (changed.numbers) ORDER BY place)
        FROM changed
        WHERE p.tenant_id = :tenant_id AND p.corpus = :corpus
          AND p.term = changed.term AND p.part = changed.part
    )
    UPDATE search_corpora AS c SET
        documents = c.documents - g.documents, total_length = c.total_length - g.total_length
    FROM (SELECT count(*) AS documents, coalesce(sum(length), 0) AS total_length FROM gone) AS g
    WHERE c.tenant_id = :tenant_id AND c.corpus = :corpus AND g.documents > 0
    """  # noqa: S608 - joins constants of the code; every value is a parameter
)

_CLEAR_EMPTY = text(
    """
    DELETE FROM search_postings AS p
    WHERE p.tenant_id = :tenant_id AND p.corpus = :corpus AND p.term = ANY(CAST(:terms AS bigint[]))
      AND p.postings = '{}' AND (p.before = 0 OR EXISTS (
          SELECT FROM search_postings AS later
          WHERE later.tenant_id = :tenant_id AND later.corpus = :corpus
            AND later.term = p.term AND later.part > p.part))
    """
)

_REMOVED_TERMS = text(
    """
    SELECT DISTINCT t.term FROM search_waiting AS w CROSS JOIN unnest(w.terms) AS t(term)
    WHERE w.tenant_id = :tenant_id AND w.corpus = :corpus AND w.is_removal
    """
)


def pack_waiting(tx: WriteTx, namespace: str, kind: DocumentKind, *, version: str) -> bool:
    """Pack one corpus; False when another transaction is at it, which changes no answer."""
    place = {"tenant_id": tx.tenant_id, "corpus": corpus_hash(namespace, kind, version)}
    if not tx.connection.execute(_LOCK, place).scalar_one():
        return False
    names = {"namespace": namespace, "kind": kind.value, "version": version}
    tx.connection.execute(_ADD, place | names)
    terms = list(tx.connection.execute(_REMOVED_TERMS, place).scalars())
    if terms:
        tx.connection.execute(_TAKE_OUT, place)
        tx.connection.execute(_CLEAR_EMPTY, place | {"terms": terms})
    return True
