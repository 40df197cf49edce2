"""The SQL of ranked search: BM25 over packed postings, planned by how rare each term is.

The rarest terms find the candidates until a budget of postings is spent; common ones only score
them. Every condition is an equality, which row level security can push into an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    DateTime,
    Double,
    Select,
    Text,
    bindparam,
    column,
    text,
)

from shared.store.search_keys import (
    LENGTH_BITS,
    MAX_FREQUENCY,
    MAX_LENGTH,
    NUMBER_SHIFT,
    DocumentKind,
    corpus_hash,
    term_hash,
)
from shared.store.search_packing import PART_SIZE

K1: Final = 0.9
B: Final = 0.4
"""BM25's saturation and length weight, as measured best for conversation turns."""

BUDGET: Final = 3_000
"""How many postings a search reads before common terms only score. A term alone above it is read
from its newest documents on, as far as four budgets."""

MAX_TERMS: Final = 32
"""How many terms of a query are looked for, the rarest; what a long text adds says little."""

_UNBOUNDED: Final = 2**31 - 1

STATISTICS_SQL: Final = """
    asked AS MATERIALIZED (
        SELECT q.term, q.weight, q.place
        FROM unnest(:terms, :weights) WITH ORDINALITY AS q(term, weight, place)
    ), fresh AS MATERIALIZED (
        SELECT d.number, d.length, d.terms, d.frequencies
        FROM (SELECT w.number FROM search_waiting AS w
              WHERE w.tenant_id = :tenant_id AND w.corpus = :corpus AND NOT w.is_removal
              OFFSET 0) AS w
        CROSS JOIN LATERAL (
            SELECT d.number, d.length, d.terms, d.frequencies FROM search_documents AS d
            WHERE d.tenant_id = :tenant_id AND d.number = w.number OFFSET 0) AS d
    ), gone AS MATERIALIZED (
        SELECT w.number, w.length, w.terms FROM search_waiting AS w
        WHERE w.tenant_id = :tenant_id AND w.corpus = :corpus AND w.is_removal AND NOT EXISTS (
            SELECT FROM search_waiting AS f
            WHERE f.tenant_id = :tenant_id AND f.corpus = :corpus AND f.number = w.number
              AND NOT f.is_removal)
    ), fresh_posting AS MATERIALIZED (
        SELECT asked.place, fresh.number, fresh.length,
               get_byte(fresh.frequencies, u.place::integer - 1) AS frequency
        FROM fresh CROSS JOIN unnest(fresh.terms) WITH ORDINALITY AS u(term, place)
        JOIN asked ON asked.term = u.term
    ), size AS MATERIALIZED (
        SELECT greatest(coalesce(c.documents, 0) + f.documents - g.documents, 0)::float8 AS n,
               (coalesce(c.total_length, 0) + f.total_length - g.total_length)::float8 AS total
        FROM (SELECT count(*) AS documents, coalesce(sum(length), 0) AS total_length
              FROM fresh) AS f
        CROSS JOIN (SELECT count(*) AS documents, coalesce(sum(length), 0) AS total_length
                    FROM gone) AS g
        LEFT JOIN search_corpora AS c ON c.tenant_id = :tenant_id AND c.corpus = :corpus
    ), counted AS MATERIALIZED (
        SELECT asked.term, asked.weight, asked.place, coalesce(p.part, 0) AS last_part,
               coalesce(p.known, 0) AS packed,
               greatest(coalesce(p.known, 0) + coalesce(f.n, 0) - coalesce(g.n, 0), 0)::float8
                   AS df
        FROM asked
        LEFT JOIN LATERAL (
            SELECT p.part, p.before + cardinality(p.postings) AS known
            FROM search_postings AS p
            WHERE p.tenant_id = :tenant_id AND p.corpus = :corpus AND p.term = asked.term
            ORDER BY p.part DESC LIMIT 1) AS p ON true
        LEFT JOIN (SELECT place, count(*) AS n FROM fresh_posting GROUP BY place) AS f
          ON f.place = asked.place
        LEFT JOIN (SELECT u.term, count(*) AS n FROM gone CROSS JOIN unnest(gone.terms) AS u(term)
                   GROUP BY u.term) AS g ON g.term = asked.term
    )"""
"""SQL: what a corpus counts of the terms asked for, with what waits to be packed and unpacked."""

# Floats throughout: constants alone would be numeric, ten times slower.
_SATURATED = f"""{{frequency}}::float8 * {K1 + 1}::float8
    / ({{frequency}}::float8 + {K1 * (1 - B)}::float8
       + {K1 * B}::float8 * {{length}}::float8 / size.mean_length)"""

_CORPUS_SQL = f"""
    WITH {STATISTICS_SQL}, mean AS MATERIALIZED (
        SELECT n, total, greatest(total / greatest(n, 1), 1) AS mean_length FROM size
    ), planned AS MATERIALIZED (
        SELECT *, CASE WHEN through <= :budget THEN 0
                       WHEN bit = 0 THEN greatest(last_part + 1 - :parts, 0) END AS from_part
        FROM (
            SELECT c.term, c.place, c.last_part, c.packed,
                   c.weight * ln(1 + (mean.n - least(c.df, mean.n) + 0.5)
                                 / (least(c.df, mean.n) + 0.5)) AS worth,
                   sum(c.packed) OVER rarest AS through,
                   (row_number() OVER rarest - 1)::integer AS bit
            FROM counted AS c CROSS JOIN mean WHERE c.df > 0
            WINDOW rarest AS (ORDER BY c.packed, c.df, c.place)
        ) AS t WHERE bit < {MAX_TERMS}
    )"""  # noqa: S608 - joins constants of the code; every value is a parameter

_BM25 = text(
    f"""
    {_CORPUS_SQL}, packed AS (
        SELECT u.posting >> {NUMBER_SHIFT} AS number, sum(t.worth * {
        _SATURATED.format(
            frequency=f"(u.posting >> {LENGTH_BITS} & {MAX_FREQUENCY})",
            length=f"(u.posting & {MAX_LENGTH})",
        )
    }) AS score,
               bit_or(1::bigint << t.bit) AS held, false AS is_fresh
        FROM planned AS t CROSS JOIN mean AS size
        CROSS JOIN LATERAL (
            SELECT p.postings FROM search_postings AS p
            WHERE p.tenant_id = :tenant_id AND p.corpus = :corpus AND p.term = t.term
              AND p.part >= t.from_part OFFSET 0) AS p
        CROSS JOIN LATERAL unnest(p.postings) AS u(posting)
        WHERE t.from_part IS NOT NULL
        GROUP BY u.posting >> {NUMBER_SHIFT}
    ), newest AS (
        SELECT f.number, sum(t.worth * {
        _SATURATED.format(frequency="f.frequency", length=f"least(f.length, {MAX_LENGTH})")
    }) AS score,
               bit_or(1::bigint << t.bit) AS held, true AS is_fresh
        FROM fresh_posting AS f JOIN planned AS t ON t.place = f.place CROSS JOIN mean AS size
        GROUP BY f.number
    ), candidate AS MATERIALIZED (
        SELECT * FROM (SELECT * FROM packed UNION ALL SELECT * FROM newest) AS c
        ORDER BY c.score DESC, c.number DESC
        LIMIT (SELECT CASE WHEN bool_and(from_part = 0) THEN :kept ELSE :candidates END
               FROM (SELECT coalesce(from_part, -1) AS from_part FROM planned) AS t)
    )
    SELECT d.document_id, d.thread_id, d.at, c.score + coalesce(rest.score, 0) AS score,
           c.held | coalesce(rest.held, 0) AS held,
           (SELECT string_agg(t.place::text, ',' ORDER BY t.bit) FROM planned AS t) AS places,
           (SELECT concat_ws(',', m.n, m.total, (
                SELECT string_agg(k.df::text, ',' ORDER BY k.place) FROM counted AS k))
            FROM mean AS m) AS counts,
           EXISTS (SELECT FROM planned WHERE from_part IS DISTINCT FROM 0)
               OR (SELECT count(*) FROM candidate) >= :kept AS is_cut
    FROM candidate AS c CROSS JOIN mean AS size
    CROSS JOIN LATERAL (
        SELECT * FROM search_documents AS d
        WHERE d.tenant_id = :tenant_id AND d.number = c.number OFFSET 0) AS d
    LEFT JOIN LATERAL (
        SELECT sum(t.worth * {
        _SATURATED.format(
            frequency="get_byte(d.frequencies, i.place - 1)",
            length=f"least(d.length, {MAX_LENGTH})",
        )
    }) AS score, bit_or(1::bigint << t.bit) AS held
        FROM planned AS t CROSS JOIN LATERAL (
            SELECT array_position(d.terms, t.term) AS place OFFSET 0) AS i
        WHERE t.from_part IS DISTINCT FROM 0 AND NOT c.is_fresh AND i.place IS NOT NULL
          AND c.held >> t.bit & 1 = 0
    ) AS rest ON true
    WHERE :any_thread OR d.thread_id = ANY(:threads)
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(
    bindparam("terms", type_=ARRAY(BigInteger)),
    bindparam("weights", type_=ARRAY(Double)),
    bindparam("threads", type_=ARRAY(Text)),
)

HITS = _BM25.columns(
    column("document_id", Text),
    column("thread_id", Text),
    column("at", DateTime(timezone=True)),
    column("score", Double),
    column("held", BigInteger),
    column("places", Text),
    column("counts", Text),
    column("is_cut", Boolean),
).subquery("hit")
"""The candidates of a query, unordered, to be joined and narrowed; its parameters are
`bm25_parameters`. Where narrowing leaves too few and `is_cut` says that there may be more, it is
asked again without bounds: that keeps filters exact. `places` and `counts` are the same in all
rows: which term each bit of `held` stands for, and the corpus's size, total length and documents
by term."""


def best_first(statement: Select[Any]) -> Select[Any]:
    """Order a statement over HITS: best score, then the later one, then by id."""
    return statement.order_by(HITS.c.score.desc(), HITS.c.at.desc(), HITS.c.document_id)


def bm25_parameters(
    namespace: str,
    kind: DocumentKind,
    *,
    terms: Mapping[str, float],
    version: str,
    kept: int | None,
    threads: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return what a statement over HITS is executed with, beside the tenant.

    `kept` is how many candidates are left where all terms were read to their end, half as many
    again where not; None cuts nothing.
    """
    return {
        "corpus": corpus_hash(namespace, kind, version),
        "terms": [term_hash(term) for term in terms],
        "weights": list(terms.values()),
        "any_thread": threads is None,
        "threads": list(threads or ()),
        "budget": _UNBOUNDED if kept is None else BUDGET,
        "parts": _UNBOUNDED // 2 if kept is None else max(1, 4 * BUDGET // PART_SIZE),
        "kept": _UNBOUNDED if kept is None else kept,
        "candidates": _UNBOUNDED if kept is None else kept + kept // 2,
    }
