"""What an extraction is shown beside its block: neighbours' key points and earlier events (§8).

Context only: none of it is evidence, and only the events listed here may be named in links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.domain.search_terms import query_terms
from shared.store.block_surroundings import SummarisedBlock, summaries_around
from shared.store.blocks import BlockRow
from shared.store.database import ReadTx
from shared.store.events import VISIBLE, StoredEvent, events_by_id, recent_events
from shared.store.search import bm25_search
from shared.store.search_index import DocumentKind
from workers.models.inputs import Neighbour, TimelineItem
from workers.stored_times import event_time

SIMILAR_EVENTS: Final = 8
RECENT_EVENTS: Final = 4
_SEARCHED: Final = 48
_WINDOW: Final = 16
_SUMMARY_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the block itself is about, in the words of its summary, and its neighbours."""

    about: str
    previous: Neighbour | None
    following: Neighbour | None


def surroundings_of(tx: ReadTx, block: BlockRow, *, version: int) -> Surroundings:
    """Return the block's summary as text, and the nearest blocks of the thread with key points."""
    own, earlier, later = summaries_around(tx, block, version=version, window=_WINDOW)
    about = "" if own is None else "\n".join((own.title, own.summary, *own.keypoints))
    return Surroundings(about, _neighbour(earlier), _neighbour(later))


def timeline_of(
    tx: ReadTx, block: BlockRow, *, about: str, version: int
) -> tuple[TimelineItem, ...]:
    """Return up to 8 events that resemble what the block is about, then up to 4 recent ones.

    Only active and superseded events of the derivation that readers see; each once.
    """
    hits = bm25_search(
        tx,
        block.namespace,
        DocumentKind.EVENT,
        query_terms(about),
        limit=_SEARCHED,
        version=str(version),
    )
    found = events_by_id(tx, [hit.document_id for hit in hits])
    ranked = [found[hit.document_id] for hit in hits if hit.document_id in found]
    similar = [one for one in ranked if one.status in VISIBLE]
    chosen = {one.event_id: one for one in similar[:SIMILAR_EVENTS]}
    recent = recent_events(
        tx, block.namespace, version=version, limit=SIMILAR_EVENTS + RECENT_EVENTS
    )
    fresh = [one for one in recent if one.event_id not in chosen][:RECENT_EVENTS]
    chosen |= {one.event_id: one for one in fresh}
    return tuple(_item(one) for one in chosen.values())


def _item(event: StoredEvent) -> TimelineItem:
    return TimelineItem(
        event_id=event.event_id,
        title=event.title,
        summary=event.summary[:_SUMMARY_SHOWN],
        status=event.status.value,
        scope=event.scope.value,
        time=event_time(event),
    )


def _neighbour(block: SummarisedBlock | None) -> Neighbour | None:
    if block is None:
        return None
    return Neighbour(
        block_id=block.block_id,
        sequence=block.sequence,
        start_turn=block.start_turn,
        end_turn=block.end_turn,
        keypoints=block.keypoints,
    )
