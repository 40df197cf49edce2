"""Erase one page of turns, or one event, with all that rests on it, in the caller's transaction.

The order: stop who reads it, see what goes and what stays, delete, then bring indexes, graph and
blocks in step with what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from shared.domain.erasure import (
    CitingEvent,
    Kept,
    SelectorKind,
    Source,
    Wording,
    fate_of,
    phrases_of,
    words_of,
)
from shared.domain.jobs import FollowUp, JobKind
from shared.store.database import WriteTx
from shared.store.derived_documents import stored_event_document
from shared.store.erasure_blocks import carried_into, places_of, rebuilt_block, superseded_by
from shared.store.erasure_graph import nodes_behind, refold_without
from shared.store.erasure_jobs import stop_jobs
from shared.store.erasure_locks import await_derivations, lock_rows
from shared.store.erasure_probe import unsaid
from shared.store.erasure_selection import (
    BlockLoss,
    SelectedTurn,
    SourceRow,
    blocks_losing,
    citations,
    quotes_as_stored,
    turn_texts,
)
from shared.store.erasures import Erasure, erase_sources
from shared.store.events import StoredEvent, events_by_id
from shared.store.jobs import enqueue
from shared.store.messages import messages_by_id
from shared.store.search_index import DocumentKind, index_documents, remove_documents
from shared.store.vectors import remove_vectors

MOST_WORDS: Final = 20_000


@dataclass(slots=True)
class ErasedPage:
    """How many rows of each table went, and the wording that nothing says any more."""

    counts: dict[str, int] = field(default_factory=dict)
    wording: Wording = field(default_factory=Wording)


def erase_turns(
    tx: WriteTx,
    erasure: Erasure,
    turns: Sequence[SelectedTurn],
    *,
    now: datetime,
    max_attempts: int,
) -> ErasedPage:
    """Erase turns; blocks that keep others are rebuilt from those and summarised again."""
    namespace = erasure.namespace
    turn_ids = [turn.turn_id for turn in turns]
    message_ids, said, beside = turn_texts(tx, turn_ids)
    await_derivations(tx, namespace)
    losing = blocks_losing(tx, namespace, turns)
    is_all = erasure.kind is SelectorKind.NAMESPACE
    emptied = sorted(one for one, loss in losing.items() if is_all or not loss.turns_left)
    rebuilt = [losing[one] for one in sorted(losing.keys() - set(emptied))]
    cited = citations(tx, namespace, message_ids=message_ids, block_ids=list(losing))
    lock_rows(
        tx,
        namespace,
        event_ids=sorted({one.event_id for one in cited}),
        block_ids=sorted(losing),
        thread_ids=sorted({turn.thread_id for turn in turns}),
    )
    stop_jobs(tx, namespace, sorted(losing))
    remove_documents(tx, namespace, DocumentKind.MESSAGE, message_ids)
    wording = Wording(
        frozenset(unsaid(tx, namespace, words_of(said))), frozenset(phrases_of(beside))
    )
    cited = citations(tx, namespace, message_ids=message_ids, block_ids=list(losing))
    events = events_by_id(tx, {one.event_id for one in cited})
    gone, kept = _fates(
        events, cited, message_ids=set(message_ids), emptied=set(emptied), wording=wording
    )
    counts = _erase(
        tx,
        erasure,
        rows={"turns": turn_ids, "blocks": emptied},
        gone=gone,
        kept=kept,
        rebuilt=[rebuilt_block(tx, namespace, one, gone=turn_ids) for one in rebuilt],
        now=now,
    )
    _summarise_again(tx, namespace, rebuilt, max_attempts=max_attempts)
    return ErasedPage(counts, wording)


def erase_event(tx: WriteTx, erasure: Erasure, event_id: str, *, now: datetime) -> ErasedPage:
    """Erase one event and what derives from it; its source turn stays."""
    await_derivations(tx, erasure.namespace)
    lock_rows(tx, erasure.namespace, event_ids=[event_id], block_ids=[], thread_ids=[])
    event = events_by_id(tx, [event_id]).get(event_id)
    if event is None or event.namespace != erasure.namespace:
        return ErasedPage()
    stop_jobs(tx, erasure.namespace, [])
    counts = _erase(tx, erasure, rows={}, gone=[event_id], kept=[], rebuilt=[], now=now)
    words = words_of(_texts(event))
    return ErasedPage(counts, Wording(frozenset(unsaid(tx, erasure.namespace, words))))


def _fates(
    events: Mapping[str, StoredEvent],
    cited: Sequence[SourceRow],
    *,
    message_ids: Collection[str],
    emptied: Collection[str],
    wording: Wording,
) -> tuple[list[str], list[Kept]]:
    """Tell which events go, and how those stay that others say as well."""
    sources: dict[str, list[Source]] = {}
    for row in cited:
        is_erased = row.message_id in message_ids or row.block_id in emptied
        sources.setdefault(row.event_id, []).append(Source(row.message_id, row.block_id, is_erased))
    gone: list[str] = []
    kept: list[Kept] = []
    for event_id, event in sorted(events.items()):
        found = tuple(sources.get(event_id, ()))
        fate = fate_of(CitingEvent(event_id, event.block_id, found, event.quotes))
        if fate is None or wording.is_in(_texts(event)):
            gone.append(event_id)
        elif any(one.is_erased for one in found):
            kept.append(fate)
    return gone, kept


def _erase(
    tx: WriteTx,
    erasure: Erasure,
    *,
    rows: Mapping[str, Sequence[str]],
    gone: Sequence[str],
    kept: Sequence[Kept],
    rebuilt: Sequence[Mapping[str, Any]],
    now: datetime,
) -> dict[str, int]:
    """Delete, and bring indexes and graph in step."""
    namespace = erasure.namespace
    touched = {*gone, *(one.event_id for one in kept), *superseded_by(tx, namespace, gone)}
    node_ids = nodes_behind(tx, touched) if touched else set()
    part = {**rows, "events": list(gone), "kept": _homes(tx, kept)}
    counts = erase_sources(tx, erasure.erasure_id, {"rows": part, "rebuilt": list(rebuilt)})
    remove_documents(tx, namespace, DocumentKind.EVENT, [*gone, *(one.event_id for one in kept)])
    _index_kept(tx, namespace, [one.event_id for one in kept])
    remove_vectors(tx, namespace, [one.event_id for one in kept])
    if erasure.kind is not SelectorKind.NAMESPACE:
        for table, number in refold_without(tx, namespace, node_ids, now=now).items():
            counts[table] = counts.get(table, 0) + number
    return counts


def _homes(tx: WriteTx, kept: Sequence[Kept]) -> list[dict[str, Any]]:
    """Return for each event that stays where it belongs now and when that was said."""
    places = places_of(tx, {one.block_id for one in kept})
    messages = messages_by_id(tx, {one.message_id for one in kept})
    homes = []
    for one in kept:
        thread_id, formed_turn = places[one.block_id]
        said = messages[one.message_id].message
        homes.append(
            {
                "event_id": one.event_id,
                "block_id": one.block_id,
                "thread_id": thread_id,
                "formed_turn": formed_turn,
                "mentioned_at": said.occurred_at,
                "zone": said.zone,
                "quotes": quotes_as_stored(one.quotes),
            }
        )
    return homes


def _index_kept(tx: WriteTx, namespace: str, event_ids: Sequence[str]) -> None:
    stored = events_by_id(tx, event_ids)
    carried = carried_into(tx, event_ids)
    for event_id, event in stored.items():
        for version in {event.derivation_version, *carried.get(event_id, ())}:
            index_documents(
                tx,
                namespace,
                DocumentKind.EVENT,
                [stored_event_document(event)],
                version=str(version),
            )


def _summarise_again(
    tx: WriteTx, namespace: str, rebuilt: Sequence[BlockLoss], *, max_attempts: int
) -> None:
    for block in rebuilt:
        work = FollowUp(JobKind.SUMMARIZE, block.block_id)
        enqueue(tx, namespace, work, max_attempts=max_attempts)


def _texts(event: StoredEvent) -> list[object]:
    return [
        event.title,
        event.summary,
        event.narrative,
        list(event.tags),
        [quote.text for quote in event.quotes],
        list(event.participants),
        event.original_text,
    ]
