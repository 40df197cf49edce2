"""The time of an event: the mention from its source, the happening derived by code (D12)."""

from __future__ import annotations

from collections.abc import Sequence

from shared.domain.event_types import event_type_of
from shared.domain.events import EventTime, EventType, Quote
from shared.domain.extraction_fields import Fields
from shared.domain.provenance import folded, text_of
from shared.domain.temporal.claims import CheckedTime, CitedText, TemporalClaim, check_claim
from shared.domain.temporal.resolver import resolve
from shared.domain.turns import Message

_WORDS = 200


def derive_time(
    fields: Fields, sources: Sequence[Message], *, quotes: Sequence[Quote], zone: str
) -> tuple[EventTime, tuple[str, ...]]:
    """Return an event's time and the notes on what of the model's claim was not taken.

    `mentioned_at` is the time of the cited message that gives the date, else of the one that
    holds the claimed original words, else of the first quoted, else of the first cited one;
    never what the model says. Without a claim, the one time expression of the quotes counts.
    """
    claim = TemporalClaim(
        happened_start=fields.optional_text("happenedStart", limit=_WORDS),
        happened_end=fields.optional_text("happenedEnd", limit=_WORDS),
        precision=fields.optional_text("precision", limit=_WORDS),
        basis=fields.optional_text("basis", limit=_WORDS),
        original_text=fields.optional_text("originalText", limit=_WORDS)
        or _quoted_words(fields, sources, quotes, zone=zone),
        status=fields.optional_text("status", limit=_WORDS),
        is_cancellation=event_type_of(fields.get("eventType")) is EventType.CANCELLATION,
    )
    cited = [
        CitedText(text_of(source), source.occurred_at, source.zone or zone)
        for source in sources
        if source.occurred_at is not None
    ]
    speaker = _speaker(sources, quotes, original=claim.original_text)
    checked = check_claim(claim, cited)
    return _event_time(checked, speaker, zone=zone), checked.notes


def _event_time(checked: CheckedTime, speaker: Message, *, zone: str) -> EventTime:
    is_dated = checked.mentioned_at is not None
    return EventTime(
        mentioned_at=checked.mentioned_at if is_dated else speaker.occurred_at,
        zone=(checked.zone if is_dated else speaker.zone) or zone,
        happened_start=checked.start,
        happened_end=checked.end,
        precision=checked.precision.value,
        basis=checked.basis.value,
        status=checked.status.value,
        original_text=checked.original_text,
    )


def _quoted_words(
    fields: Fields, sources: Sequence[Message], quotes: Sequence[Quote], *, zone: str
) -> str | None:
    """Return the words of the only dated expression in the quotes, where no date is claimed.

    Two expressions could each be the event's, so none is taken.
    """
    if fields.optional_text("happenedStart", limit=_WORDS) is not None:
        return None
    said = {source.id: source for source in sources}
    found: set[str] = set()
    for quote in quotes:
        source = said.get(quote.message_id)
        if source is None or source.occurred_at is None:
            continue
        for expression in resolve(quote.text, source.occurred_at, source.zone or zone):
            if expression.start is not None:
                found.add(expression.original_text)
    return found.pop() if len(found) == 1 else None


def _speaker(
    sources: Sequence[Message], quotes: Sequence[Quote], *, original: str | None
) -> Message:
    if original is not None:
        wanted = folded(original).lower()
        for source in sources:
            if wanted in folded(text_of(source)).lower():
                return source
    quoted = {quote.message_id for quote in quotes}
    return next((source for source in sources if source.id in quoted), sources[0])
