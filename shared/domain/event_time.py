"""The time of an event: the mention from its source, the happening derived by code (D12)."""

from __future__ import annotations

from collections.abc import Sequence

from shared.domain.events import EventTime, Quote
from shared.domain.extraction_fields import Fields
from shared.domain.provenance import folded, text_of
from shared.domain.turns import Message

_ORIGINAL_LENGTH = 200


def derive_time(
    fields: Fields, sources: Sequence[Message], *, quotes: Sequence[Quote], zone: str
) -> tuple[EventTime, tuple[str, ...]]:
    """Return an event's time and the notes on what of the claim was not taken.

    `mentioned_at` is the time of the cited message that holds the claimed original words, else
    of the first quoted one, else of the first cited one; never what the model says.
    """
    original = fields.optional_text("originalText", limit=_ORIGINAL_LENGTH)
    source = _speaking(sources, quotes, original=original)
    time = EventTime(
        mentioned_at=source.occurred_at,
        zone=source.zone or zone,
        original_text=original,
    )
    return time, ()


def _speaking(
    sources: Sequence[Message], quotes: Sequence[Quote], *, original: str | None
) -> Message:
    if original is not None:
        wanted = folded(original).lower()
        for source in sources:
            if wanted in folded(text_of(source)).lower():
                return source
    quoted = {quote.message_id for quote in quotes}
    return next((source for source in sources if source.id in quoted), sources[0])
