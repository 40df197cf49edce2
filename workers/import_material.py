"""What a decider of an import is shown: the events that resemble a candidate, best first (§22).

Looking for them tracks nothing and makes no batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from shared.domain.external_memory import Candidate
from shared.domain.search_terms import query_terms
from shared.store.database import ReadTx
from shared.store.events import VISIBLE, StoredEvent, events_by_id, same_fingerprint
from shared.store.search import Hit, bm25_search
from shared.store.search_index import DocumentKind
from workers.models.inputs import ImportMatch
from workers.stored_times import event_time

_LOOKED_AT: Final = 4
_MARGIN: Final = 20
_SUMMARY_SHOWN: Final = 1_000


def matches_of(
    tx: ReadTx, namespace: str, candidate: Candidate, *, top_k: int, version: int
) -> list[tuple[StoredEvent, Hit]]:
    """Return up to `top_k` visible events that share words with a candidate, best first."""
    words = " ".join((candidate.title, candidate.summary, *candidate.tags))
    hits = bm25_search(
        tx,
        namespace,
        DocumentKind.EVENT,
        query_terms(words),
        # Forgotten events keep their documents, so more are looked at than are shown.
        limit=top_k * _LOOKED_AT + _MARGIN,
        version=str(version),
    )
    found = events_by_id(tx, [hit.document_id for hit in hits])
    shown = [
        (found[hit.document_id], hit)
        for hit in hits
        if hit.document_id in found and found[hit.document_id].status in VISIBLE
    ]
    return shown[:top_k]


def said_already(tx: ReadTx, namespace: str, candidate: Candidate, *, version: int) -> str | None:
    """Return the visible event that says word for word the same, or None."""
    found = same_fingerprint(tx, namespace, [candidate.fingerprint], version=version)
    twin = found.get(candidate.fingerprint)
    return None if twin is None else twin.event_id


def shown_to_model(found: Sequence[tuple[StoredEvent, Hit]]) -> tuple[ImportMatch, ...]:
    """Return matches as a model reads them."""
    return tuple(
        ImportMatch(
            event_id=event.event_id,
            title=event.title,
            summary=event.summary[:_SUMMARY_SHOWN],
            status=event.status.value,
            time=event_time(event),
        )
        for event, _ in found
    )


def kept_with_decision(found: Sequence[tuple[StoredEvent, Hit]]) -> list[dict[str, Any]]:
    """Return matches as they are kept: by id, with the standing they were shown in."""
    return [
        {
            "event_id": event.event_id,
            "score": round(hit.score, 6),
            "status": event.status.value,
            "superseded_by": event.superseded_by,
        }
        for event, hit in found
    ]
