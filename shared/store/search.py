"""Ranked search of one kind of document: the best by BM25, by their own words alone.

The statement is in `search_hits`: asked with bounds, and without where they cut too much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, select

from shared.domain.bm25 import Bm25Stats
from shared.store.database import ReadTx, plan_for_any
from shared.store.direct import Direct
from shared.store.search_hits import HITS, best_first, bm25_parameters
from shared.store.search_keys import DocumentKind
from shared.store.versions import live_document_version

_LIMIT = bindparam("limit", type_=Integer)
_HITS = Direct(
    best_first(
        select(
            HITS.c.document_id,
            HITS.c.thread_id,
            HITS.c.at,
            HITS.c.score,
            HITS.c.held,
            HITS.c.places,
            HITS.c.is_cut,
        )
    ).limit(_LIMIT)
)
_COUNTED = Direct(
    best_first(select(HITS.c.document_id, HITS.c.is_cut, HITS.c.counts)).limit(_LIMIT)
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that holds at least one term of the query, with its BM25 score."""

    document_id: str
    thread_id: str
    at: datetime
    score: float
    matched_terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The ids of the best documents, and what the collection counts of the terms asked for.

    `stats` is None where nothing is found: nothing was counted then.
    """

    ids: tuple[str, ...] = ()
    stats: Bm25Stats | None = None


def bm25_search(
    tx: ReadTx,
    namespace: str,
    kind: DocumentKind,
    terms: Mapping[str, float],
    *,
    limit: int = 200,
    threads: Sequence[str] | None = None,
    version: str | None = None,
) -> list[Hit]:
    """Return the best documents of one kind for the weighted query terms, best first.

    Only those of the live version count, unless another `version` is named: a derivation's
    number for events, a graph version's id for nodes.
    Document frequency and mean length are the whole namespace's, also when `threads` narrows
    what is returned. Equal scores: the later one first. No terms, no hits.
    """
    if not terms:
        return []
    named = live_document_version(tx, namespace, kind) if version is None else version
    rows = _best(
        _HITS, tx, namespace, kind, terms=terms, limit=limit, threads=threads, version=named
    )
    named_terms = terms_of(rows, list(terms))
    return [Hit(row[0], row[1], row[2], row[3], named_terms(row.held)) for row in rows]


def messages_found(
    tx: ReadTx,
    namespace: str,
    terms: Mapping[str, float],
    *,
    limit: int,
    threads: Sequence[str] | None = None,
) -> Found:
    """Return the best messages as `bm25_search` does, with what it counted on its way."""
    if not terms:
        return Found()
    kind = DocumentKind.MESSAGE
    rows = _best(
        _COUNTED, tx, namespace, kind, terms=terms, limit=limit, threads=threads, version=""
    )
    if not rows:
        return Found()
    size, total, *documents = map(float, rows[0].counts.split(","))
    stats = Bm25Stats(
        document_count=int(size),
        average_length=total / max(size, 1.0),
        document_frequencies={
            term: int(n) for term, n in zip(terms, documents, strict=True) if n > 0
        },
    )
    return Found(tuple(row.document_id for row in rows), stats)


def terms_of(rows: Sequence[Any], asked: Sequence[str]) -> Callable[[int], tuple[str, ...]]:
    """Return what names the terms behind the bits of these rows of HITS, the same for all of them.

    `asked` are the query's terms in the order they were given.
    """
    places = [int(place) for place in rows[0].places.split(",")] if rows else []
    known: dict[int, tuple[str, ...]] = {}

    def named(held: int) -> tuple[str, ...]:
        if held not in known:
            known[held] = tuple(
                sorted(asked[place - 1] for bit, place in enumerate(places) if held >> bit & 1)
            )
        return known[held]

    return named


def _best(
    statement: Direct,
    tx: ReadTx,
    namespace: str,
    kind: DocumentKind,
    *,
    terms: Mapping[str, float],
    limit: int,
    threads: Sequence[str] | None,
    version: str,
) -> list[Any]:
    # Without a filter nothing is lost after the cut but removed documents, which are few.
    kept = limit if threads is None else 2 * limit
    rows: list[Any] = []
    plan_for_any(tx)
    for bounded in (True, False):
        parameters = bm25_parameters(
            namespace,
            kind,
            terms=terms,
            threads=threads,
            version=version,
            kept=kept if bounded else None,
        )
        rows = statement.rows(tx, limit=limit, **parameters)
        if threads is None or len(rows) == limit or (rows and not rows[0].is_cut):
            break
    return rows
