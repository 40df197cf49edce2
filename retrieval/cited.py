"""Read what cited evidence says, for the advisories: text, dates, standing, open conflicts."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.event_cards import in_conflict, temporal_card
from retrieval.graph_views import load_views
from retrieval.reader import Reader
from shared.domain.advisories import CitedItem
from shared.domain.events import EventStatus
from shared.domain.graph_view import EdgeView, FactView, NodeView
from shared.domain.temporal.resolver import resolve
from shared.store.blocks import summaries_of
from shared.store.database import ReadTx
from shared.store.events import EventLink, StoredEvent, events_by_id, links_of
from shared.store.messages import StoredMessage, messages_by_id


def cited_items(tx: ReadTx, reader: Reader, refs: Sequence[str]) -> list[CitedItem]:
    """Return the cited items in the order of their refs; what is gone since is left out."""
    ids = {ref: _subject(ref) for ref in refs}
    events = events_by_id(tx, [i for ref, i in ids.items() if ref.startswith("event:")])
    links = links_of(tx, list(events))
    others = events_by_id(tx, {link.other_event_id for link in links} | set(events))
    # A contradiction is open between two active events alone.
    alive = {name: one for name, one in others.items() if one.status is EventStatus.ACTIVE}
    node_ids = {i for ref, i in ids.items() if ref.startswith(("graph-node:", "element:"))}
    nodes = {view.id: view for view in load_views(tx, node_ids).asked}
    messages = messages_by_id(tx, [i for ref, i in ids.items() if ref.startswith("raw:")])
    blocks = [i for ref, i in ids.items() if ref.startswith("block:")]
    summaries = summaries_of(tx, blocks, version=reader.version)
    found: list[CitedItem] = []
    for ref, subject in ids.items():
        if subject in events:
            found.append(_event(ref, events[subject], links, alive))
        elif subject in nodes:
            found.append(_node(ref, nodes[subject]))
        elif subject in messages:
            found.append(_message(ref, messages[subject]))
        elif subject in summaries:
            row = summaries[subject]
            text = "\n".join((row.title, row.summary, *row.keypoints))
            found.append(CitedItem(ref, text, has_date=True))
    return found


def _subject(ref: str) -> str:
    """Return the id inside a ref: `event:<evt>`, `graph-node:<nod>:expanded`, …"""
    return ref.split(":")[1] if ":" in ref else ref


def _event(
    ref: str, event: StoredEvent, links: Sequence[EventLink], alive: dict[str, StoredEvent]
) -> CitedItem:
    times = temporal_card(event)
    dates = (times.happened_start, times.happened_end, times.original_text, times.mentioned_at)
    text = (
        event.title,
        event.summary,
        event.narrative or "",
        *event.tags,
        *event.participants,
        *(quote.text for quote in event.quotes),
        *(date for date in dates if date),
    )
    return CitedItem(
        ref=ref,
        text="\n".join(text),
        has_date=times.happened_start is not None,
        status=event.status.value,
        in_conflict=event.event_id in alive and in_conflict(event.event_id, links, alive),
    )


def _node(ref: str, view: NodeView) -> CitedItem:
    edges = (*view.current_edges, *view.historical_edges)
    records: tuple[FactView | EdgeView, ...] = (
        *view.current_facts,
        *view.historical_facts,
        *edges,
    )
    text = (view.name, *view.aliases, *view.tags, view.state_text, *(e.relation for e in edges))
    return CitedItem(
        ref=ref,
        text="\n".join(text),
        has_date=any(record.valid_from is not None for record in records),
        status=view.status.value,
    )


def _message(ref: str, stored: StoredMessage) -> CitedItem:
    message = stored.message
    said = message.occurred_at
    dated = said is not None and any(
        found.start is not None for found in resolve(message.content, said, message.zone)
    )
    name = message.name or ""
    return CitedItem(ref, f"{name}\n{message.content}", has_date=dated)
