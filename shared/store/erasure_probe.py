"""Ask the indexes for erased words: which are said no more, and whether a search finds any."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import select

from shared.store.database import ReadTx
from shared.store.graph import live_version
from shared.store.search import bm25_search
from shared.store.search_index import DocumentKind
from shared.store.search_statistics import collection_statistics
from shared.store.tables import namespaces

_AT_ONCE = 2_000
_HITS = 10


def unsaid(tx: ReadTx, namespace: str, terms: Collection[str]) -> set[str]:
    """Return which terms no message of the namespace holds."""
    wanted = sorted(terms)
    left: set[str] = set()
    for start in range(0, len(wanted), _AT_ONCE):
        page = wanted[start : start + _AT_ONCE]
        found = collection_statistics(tx, namespace, DocumentKind.MESSAGE, terms=page)
        left |= {term for term in page if not found.document_frequencies.get(term)}
    return left


def probe(tx: ReadTx, namespace: str, terms: Sequence[str]) -> dict[str, int]:
    """Search for terms as a reader would; return how many documents of each kind hold any."""
    if not terms:
        return {kind.value: 0 for kind in DocumentKind}
    weights = dict.fromkeys(terms, 1.0)
    versions = {
        DocumentKind.MESSAGE: "",
        DocumentKind.EVENT: str(_derivation(tx, namespace)),
        DocumentKind.NODE: live_version(tx, namespace) or "",
    }
    return {
        kind.value: len(bm25_search(tx, namespace, kind, weights, limit=_HITS, version=version))
        for kind, version in versions.items()
    }


def _derivation(tx: ReadTx, namespace: str) -> int:
    """Return the live derivation; 1 where the namespace itself is gone."""
    version: int | None = tx.connection.execute(
        select(namespaces.c.derivation_version).where(
            namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace
        )
    ).scalar()
    return version or 1
