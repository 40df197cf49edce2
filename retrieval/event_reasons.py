"""Say why an event was found: which fields hold the query's words, and what else led to it."""

from __future__ import annotations

from retrieval.event_ranking import EventQuery, RankedEvent
from shared.domain.search_terms import TermFinder, matched_terms
from shared.store.events import StoredEvent


def matched_fields(one: RankedEvent) -> list[str]:
    """Return the fields of an event that hold a term of the query, in a fixed order."""
    if not one.terms:
        return []
    finder = TermFinder(one.terms)
    return [
        name
        for name, texts in _fields(one.event).items()
        if any(finder.held(text) for text in texts)
    ]


def match_reason(query: EventQuery, one: RankedEvent, fields: list[str]) -> str:
    """Return in a sentence or two what led to an event."""
    said: list[str] = []
    words = matched_terms(query.text, one.terms)
    if words:
        where = f" in {', '.join(name.replace('_', ' ') for name in fields)}" if fields else ""
        said.append(f"Matches {', '.join(repr(word) for word in words)}{where}.")
    if one.time_words:
        spans = ", ".join(repr(words) for words in one.time_words)
        said.append(f"Happened or was said within {spans}.")
    if one.is_alike:
        said.append("Close to the query in meaning.")
    if one.replaces is not None:
        said.append(f"Replaces {one.replaces}, which matches.")
    if not said and one.passes_filter:
        said.append("Passes the filters; shares no word with the query.")
    if one.event.superseded_by is not None:
        said.append(f"Superseded by {one.event.superseded_by}.")
    return " ".join(said)


def _fields(event: StoredEvent) -> dict[str, tuple[str, ...]]:
    happened = tuple(text for text in (event.happened_start, event.happened_end) if text)
    return {
        "title": (event.title,),
        "summary": (event.summary,),
        "tags": event.tags,
        "quotes": tuple(quote.text for quote in event.quotes),
        "participants": event.participants,
        "event_type": (event.event_type.value,),
        "original_text": (event.original_text,) if event.original_text else (),
        "happened": happened,
    }
