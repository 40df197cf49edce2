"""Validation of an extractor's reply: what may become an event, and what is refused and why.

A reply is data from outside. Sources are legal or refused, quotes verbatim or dropped, ids
offered or dropped, dates derived or unknown (D9-D14); every loss is listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.domain import event_types
from shared.domain.event_time import derive_time
from shared.domain.events import Criticality, EventDraft, Scope
from shared.domain.extraction_fields import Fields, event_fields, fields_of
from shared.domain.model_json import MalformedReply
from shared.domain.provenance import CheckedQuotes, check_quotes, is_grounded, part_sources
from shared.domain.turns import Message, Role

TITLE_LIMIT: Final = 200
SUMMARY_LIMIT: Final = 1000
NARRATIVE_LIMIT: Final = 8000
TAG_LIMIT: Final = 12
QUOTE_LIMIT: Final = 12
PARTICIPANT_LIMIT: Final = 24
LINK_LIMIT: Final = 24
_TAGS_READ = 16
_NAME_LENGTH = 200
_QUOTE_LENGTH = 1000
_ABOUT_USER = re.compile(r"\b(?:the\s+)?user\b|用户", re.IGNORECASE)
_TASTE = re.compile(
    r"\buser\b(?:\s+\w+){0,2}\s+(?:loves?|likes?|prefers?|adores?|enjoys?|hates?|dislikes?"
    r"|favou?rs?|is fond)\b|用户.{0,4}(?:喜欢|偏好|热爱|讨厌|不喜欢)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Something of a reply that was not taken.

    `refused` tells whether the whole event is gone or only the part that `detail` names.
    """

    index: int
    code: str
    detail: str
    item: str | None = None
    refused: bool = True


@dataclass(frozen=True, slots=True)
class ExtractionContext:
    """What one call of the extractor was shown and offered.

    `messages` is the redacted view of the target block, whole, also when the call saw a part;
    `offered_event_ids` are the only events a reply may name; `zone` holds for messages without
    a time of their own; `stored` holds the same messages as they are kept, where the view
    leaves out passages: quotes must stand in those as well.
    """

    messages: tuple[Message, ...]
    offered_event_ids: frozenset[str] = frozenset()
    zone: str = "UTC"
    stored: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """A valid reply. `should_extract` false is an explicit valid-empty, with no events (D9)."""

    should_extract: bool
    reason: str
    events: tuple[EventDraft, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def refused(self) -> tuple[Rejection, ...]:
        """Return the rejections that cost a whole event; they call for a repair."""
        return tuple(one for one in self.rejections if one.refused)


class NoValidEvent(MalformedReply):
    """The reply asks for extraction and holds no event that stands; `rejections` say why."""

    def __init__(self, reason: str, rejections: tuple[Rejection, ...]) -> None:
        detail = f"extraction was asked for and no valid event came: {reason or 'no reason'}"
        super().__init__(detail, problems=(detail, *(describe(one) for one in rejections)))
        self.rejections = rejections


def validate_extraction(reply: Mapping[str, object], context: ExtractionContext) -> Extraction:
    """Turn a reply into drafts and rejections.

    Raises MalformedReply when shouldExtract is absent or no boolean, and NoValidEvent (one of
    its kind) when it is true and not one event stands.
    """
    fields = fields_of(reply)
    should_extract = fields.flag("shouldExtract")
    if should_extract is None:
        raise MalformedReply("shouldExtract is missing or is no boolean")
    reason = fields.text("reason", limit=500)
    if not should_extract:
        ignored = len(fields.items("events"))
        notes = (*fields.notes, *([f"{ignored} events ignored"] if ignored else []))
        return Extraction(should_extract=False, reason=reason, notes=notes)
    drafts: list[EventDraft] = []
    rejections: list[Rejection] = []
    for index, item in enumerate(fields.items("events")):
        draft, lost = _read_event(item, context, index=index)
        rejections.extend(lost)
        if draft is not None:
            drafts.append(draft)
    if not drafts:
        raise NoValidEvent(reason, tuple(rejections))
    notes = (*fields.notes, *(note for draft in drafts for note in draft.notes))
    return Extraction(
        should_extract=True,
        reason=reason,
        events=merge_repeated(drafts),
        rejections=tuple(rejections),
        notes=tuple(dict.fromkeys(notes)),
    )


def merge_repeated(drafts: Sequence[EventDraft]) -> tuple[EventDraft, ...]:
    """Merge exact repetitions: the first keeps its words and gains the others' sources (D15)."""
    merged: dict[object, EventDraft] = {}
    for draft in drafts:
        when = (draft.time.happened_start, draft.time.happened_end, draft.time.status)
        key = (draft.fingerprint, draft.scope, draft.criticality, when)
        first = merged.get(key)
        merged[key] = draft if first is None else _with_sources_of(first, draft)
    return tuple(merged.values())


def describe(rejection: Rejection) -> str:
    """Return a rejection as a sentence for a repair request or a log of the job."""
    named = f" ({rejection.item})" if rejection.item else ""
    return f"events[{rejection.index}]{named}: {rejection.code}: {rejection.detail}"


def _read_event(
    item: object, context: ExtractionContext, *, index: int
) -> tuple[EventDraft | None, list[Rejection]]:
    if not isinstance(item, Mapping):
        return None, [Rejection(index, "not_an_object", "an event must be an object")]
    fields = event_fields(item)
    title = fields.text("title", limit=TITLE_LIMIT)
    summary = fields.text("summary", limit=SUMMARY_LIMIT)
    name = title or summary[:80] or None
    missing = [key for key, value in (("title", title), ("summary", summary)) if not value]
    if missing:
        detail = f"{' and '.join(missing)} must be non-blank text"
        return None, [Rejection(index, "missing_field", detail, name)]
    cited = fields.texts("sourceMessageIds", count=200, limit=_NAME_LENGTH)
    parted = part_sources(cited, context.messages)
    lost = [
        Rejection(index, "foreign_source", f"{one} is no source here", name, refused=False)
        for one in parted.foreign
    ]
    if not parted.legal:
        detail = "an event must cite a message of the target block"
        return None, [*lost, Rejection(index, "no_legal_source", detail, name)]
    sources = [one for one in context.messages if one.id in parted.legal]
    stored = [one for one in context.stored if one.id in parted.legal]
    quotes = check_quotes(_quotes(fields), sources, stored=stored)
    lost += [
        Rejection(index, "quote_not_verbatim", one[:160], name, refused=False)
        for one in quotes.dropped
    ]
    links, unknown = _links(fields, context)
    lost += [Rejection(index, "event_not_offered", one, name, refused=False) for one in unknown]
    draft = _draft(fields, sources, context, quotes=quotes, links=links)
    refusal = _refusal(draft, sources)
    if refusal is not None:
        return None, [*lost, Rejection(index, refusal[0], refusal[1], name)]
    return replace(draft, source_message_ids=parted.legal), lost


def _draft(
    fields: Fields,
    sources: Sequence[Message],
    context: ExtractionContext,
    *,
    quotes: CheckedQuotes,
    links: Mapping[str, tuple[str, ...]],
) -> EventDraft:
    kept = quotes.verbatim[:QUOTE_LIMIT]
    title = fields.text("title", limit=TITLE_LIMIT)
    summary = fields.text("summary", limit=SUMMARY_LIMIT)
    category = fields.optional_text("category", limit=60)
    time, time_notes = derive_time(fields, sources, quotes=kept, zone=context.zone)
    proposed = fields.word("criticality", Criticality, Criticality.ROUTINE)
    criticality = event_types.raised(proposed, category)
    if event_types.states_allergy(f"{title}. {summary}"):
        criticality = Criticality.SAFETY
    scope = fields.word("scope", Scope, Scope.USER)
    return EventDraft(
        title=title,
        summary=summary,
        source_message_ids=(),
        time=time,
        narrative=fields.optional_text("narrative", limit=NARRATIVE_LIMIT),
        tags=fields.texts("tags", count=_TAGS_READ, limit=_NAME_LENGTH)[:TAG_LIMIT],
        quotes=kept,
        scope=scope,
        criticality=criticality,
        category=category,
        event_type=event_types.event_type_of(fields.get("eventType")),
        participants=fields.texts("participants", count=PARTICIPANT_LIMIT, limit=_NAME_LENGTH),
        supersedes_event_ids=links["supersedesEventIds"],
        conflicts_with_event_ids=links["conflictsWithEventIds"],
        before_event_ids=links["beforeEventIds"],
        after_event_ids=links["afterEventIds"],
        related_event_ids=links["relatedEventIds"],
        same_event_id=next(iter(links["sameEventId"]), None),
        notes=tuple(f"{title[:60]}: {note}" for note in (*fields.notes, *time_notes)),
    )


def _refusal(draft: EventDraft, sources: Sequence[Message]) -> tuple[str, str] | None:
    statement = " ".join((draft.title, draft.summary, *draft.participants))
    if not is_grounded(statement, sources, quotes=draft.quotes):
        return "ungrounded", "none of its words, names or numbers stand in the cited messages"
    if _is_claim_about_user(draft, sources):
        return "unsupported_claim", "only the assistant says this about the user"
    return None


def _is_claim_about_user(draft: EventDraft, sources: Sequence[Message]) -> bool:
    """Tell whether the sole source of a taste or trait of the user is the assistant's word."""
    if any(one.role is not Role.ASSISTANT for one in sources):
        return False
    words = f"{draft.title} {draft.summary}"
    personal = draft.criticality is not Criticality.ROUTINE or _TASTE.search(words) is not None
    return personal and _ABOUT_USER.search(words) is not None


def _quotes(fields: Fields) -> list[tuple[str | None, str]]:
    quotes: list[tuple[str | None, str]] = []
    for item in fields.items("quotes"):
        if isinstance(item, str) and item.strip():
            quotes.append((None, item[:_QUOTE_LENGTH]))
        elif isinstance(item, Mapping):
            inner = fields_of({str(key): value for key, value in item.items()})
            text = inner.text("text", limit=_QUOTE_LENGTH) or inner.text(
                "quote", limit=_QUOTE_LENGTH
            )
            named = inner.optional_text("messageId", limit=_NAME_LENGTH)
            if text:
                quotes.append((named, text))
    return quotes


def _links(
    fields: Fields, context: ExtractionContext
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    links: dict[str, tuple[str, ...]] = {}
    unknown: dict[str, None] = {}
    for key in (
        "supersedesEventIds",
        "conflictsWithEventIds",
        "beforeEventIds",
        "afterEventIds",
        "relatedEventIds",
        "sameEventId",
    ):
        named = fields.texts(key, count=LINK_LIMIT, limit=_NAME_LENGTH)
        links[key] = tuple(one for one in named if one in context.offered_event_ids)
        unknown.update(dict.fromkeys(one for one in named if one not in links[key]))
    return links, list(unknown)


def _with_sources_of(first: EventDraft, other: EventDraft) -> EventDraft:
    return replace(
        first,
        source_message_ids=_union(first.source_message_ids, other.source_message_ids),
        tags=_union(first.tags, other.tags)[:TAG_LIMIT],
        quotes=tuple(dict.fromkeys((*first.quotes, *other.quotes)))[:QUOTE_LIMIT],
        supersedes_event_ids=_union(first.supersedes_event_ids, other.supersedes_event_ids),
        conflicts_with_event_ids=_union(
            first.conflicts_with_event_ids, other.conflicts_with_event_ids
        ),
    )


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
