"""What an extraction is shown beside its block: neighbours' key points and earlier events (§8).

Context only: none of it is evidence, and only the events listed here may be named in links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from shared.domain.search_terms import query_terms
from shared.store.block_material import BlockMaterial
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
_READ_AT_ONCE: Final = 16
_SUMMARY_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the block itself is about, in the words of its summary, and its neighbours.

    `may_have_events`: False where the namespace is known to have no event at all.
    """

    about: str
    previous: Neighbour | None
    following: Neighbour | None
    may_have_events: bool


def surroundings_of(
    tx: ReadTx, said: BlockMaterial, *, version: int, is_live: bool
) -> Surroundings:
    """Return the block's summary as text, and the nearest blocks of the thread with key points.

    `is_live`: the version is the one that was live when the block was read.
    """
    around = said.around if is_live else None
    if around is None:
        around = summaries_around(tx, said.block, version=version)
    own = around.own
    about = "" if own is None else "\n".join((own.title, own.summary, *own.keypoints))
    previous, following = _neighbour(around.earlier), _neighbour(around.later)
    return Surroundings(about, previous, following, around.may_have_events)


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
    chosen = _first_visible(tx, [hit.document_id for hit in hits])
    recent = recent_events(
        tx, block.namespace, version=version, limit=SIMILAR_EVENTS + RECENT_EVENTS
    )
    fresh = [one for one in recent if one.event_id not in chosen][:RECENT_EVENTS]
    chosen |= {one.event_id: one for one in fresh}
    return tuple(_item(one) for one in chosen.values())


def _first_visible(tx: ReadTx, event_ids: Sequence[str]) -> dict[str, StoredEvent]:
    """Return the first visible ones, in order; most are, so that few are read in vain."""
    chosen: dict[str, StoredEvent] = {}
    for begin in range(0, len(event_ids), _READ_AT_ONCE):
        asked = event_ids[begin : begin + _READ_AT_ONCE]
        found = events_by_id(tx, asked)
        chosen |= {key: found[key] for key in asked if key in found and _is_visible(found[key])}
        if len(chosen) >= SIMILAR_EVENTS:
            break
    return dict(islice(chosen.items(), SIMILAR_EVENTS))


def _is_visible(event: StoredEvent) -> bool:
    return event.status in VISIBLE


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
