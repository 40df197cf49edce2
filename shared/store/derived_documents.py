"""The search documents of what was derived: the words of an event or a node, weighted by field.

A weight repeats a field's terms, so it counts in frequency and in length alike (§14 of the rules).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from shared.domain.events import EventDraft
from shared.domain.graph_view import EdgeView, FactView, NodeView
from shared.domain.search_terms import search_terms
from shared.store.events import StoredEvent, shown
from shared.store.search_index import SearchDocument

_NO_THREAD = ""
"""Nodes belong to no thread."""


def event_document(
    event_id: str, draft: EventDraft, *, thread_id: str, at: datetime
) -> SearchDocument:
    """Return the document of an event (§15); `at` is when it was said."""
    time = draft.time
    happened = (shown(time.happened_start), shown(time.happened_end))
    fields = _event_fields(draft, time.original_text, happened)
    return SearchDocument(event_id, thread_id, at, _frequencies(fields))


def stored_event_document(event: StoredEvent) -> SearchDocument:
    """Return the document of an event as it is stored now."""
    happened = (event.happened_start, event.happened_end)
    fields = _event_fields(event, event.original_text, happened)
    at = event.mentioned_at or event.created_at
    return SearchDocument(event.event_id, event.thread_id, at, _frequencies(fields))


def _event_fields(
    event: EventDraft | StoredEvent, original_text: str | None, happened: Iterable[str | None]
) -> tuple[tuple[int, str], ...]:
    return (
        (4, event.title),
        (3, event.summary),
        (2, " ".join(event.tags)),
        (2, " ".join(quote.text for quote in event.quotes)),
        (5, " ".join(event.participants)),
        (5, event.event_type.value.replace("_", " ")),
        (4, original_text or ""),
        (4, " ".join(day for day in happened if day)),
    )


def node_document(view: NodeView, names: Mapping[str, str], *, at: datetime) -> SearchDocument:
    """Return the document of a node (§17); `names` gives the words for its edges' other ends."""
    fields = (
        (6, view.name),
        (5, " ".join(view.aliases)),
        (5, " ".join(view.tags)),
        (2, view.type.value),
        (4, _facts(view.current_facts)),
        (2, _facts(view.historical_facts)),
        (4, _ends(view, view.current_edges, names)),
        (2, _ends(view, view.historical_edges, names)),
        (1, " ".join(e.relation for e in (*view.current_edges, *view.historical_edges))),
    )
    return SearchDocument(view.id, _NO_THREAD, at, _frequencies(fields))


def _frequencies(fields: Iterable[tuple[int, str]]) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for weight, text in fields:
        for term, count in Counter(search_terms(text)).items():
            counts[term] += weight * count
    return counts


def _facts(facts: Iterable[FactView]) -> str:
    parts = []
    for fact in facts:
        value = fact.value if isinstance(fact.value, str) else " ".join(fact.value)
        parts.append(f"{fact.key} {value}")
    return "\n".join(parts)


def _ends(view: NodeView, edges: Iterable[EdgeView], names: Mapping[str, str]) -> str:
    others = (e.to_node_id if e.from_node_id == view.id else e.from_node_id for e in edges)
    return "\n".join(names.get(other, "") for other in others)
