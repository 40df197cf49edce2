"""Load two versions page by page, to tell what a switch would change for readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import select

from shared.domain.event_diff import EventDiff, ToldEvent, diff_events
from shared.domain.graph_diff import GraphDiff, NodeKey, Picture, diff_graphs
from shared.domain.graph_view import node_views
from shared.store.database import ReadTx
from shared.store.events import VISIBLE
from shared.store.graph_reads import neighbourhood
from shared.store.graph_versions import GraphVersion
from shared.store.tables import blocks, event_sources, events, messages, nodes
from shared.store.versions import in_version, live_derivation_version

_PAGE: Final = 300
"""Nodes loaded at a time: with their edges, siblings and sources a few thousand rows."""


def graph_difference(tx: ReadTx, before: GraphVersion | None, after: GraphVersion) -> GraphDiff:
    """Return what readers of the graph would see change; None stands for an empty graph."""
    empty = Picture({})
    return diff_graphs(empty if before is None else _picture(tx, before), _picture(tx, after))


def event_difference(tx: ReadTx, before: GraphVersion, after: GraphVersion) -> EventDiff:
    """Return what readers of the events would see change."""
    return diff_events(_told(tx, before), _told(tx, after))


def _picture(tx: ReadTx, version: GraphVersion) -> Picture:
    rows = tx.connection.execute(
        select(nodes.c.node_id, nodes.c.type, nodes.c.key).where(
            nodes.c.tenant_id == tx.tenant_id,
            nodes.c.graph_version_id == version.graph_version_id,
        )
    )
    keys: dict[str, NodeKey] = {row.node_id: (row.type, row.key) for row in rows}
    picture = Picture(keys)
    live = live_derivation_version(tx, version.namespace)
    derivation = None if version.derivation_version == live else version.derivation_version
    for page in _pages(sorted(keys)):
        around = neighbourhood(tx, page, derivation=derivation)
        asked = set(page)
        picture.take(v for v in node_views(around.state, around.events) if v.id in asked)
    return picture


def _pages(ids: list[str]) -> Iterator[list[str]]:
    return ([*ids[start : start + _PAGE]] for start in range(0, len(ids), _PAGE))


def _told(tx: ReadTx, version: GraphVersion) -> list[ToldEvent]:
    """Return the visible events of a version with the sources that lie in their own block."""
    statement = (
        select(
            events.c.event_id,
            events.c.block_id,
            events.c.title,
            event_sources.c.message_id,
        )
        .join(
            blocks,
            (blocks.c.tenant_id == events.c.tenant_id) & (blocks.c.block_id == events.c.block_id),
        )
        .join(
            event_sources,
            (event_sources.c.tenant_id == events.c.tenant_id)
            & (event_sources.c.event_id == events.c.event_id),
        )
        .join(
            messages,
            (messages.c.tenant_id == events.c.tenant_id)
            & (messages.c.message_id == event_sources.c.message_id),
        )
        .where(
            events.c.tenant_id == tx.tenant_id,
            events.c.namespace == version.namespace,
            events.c.status.in_([one.value for one in VISIBLE]),
            in_version(version.derivation_version),
            messages.c.thread_id == blocks.c.thread_id,
            messages.c.turn_sequence.between(blocks.c.start_turn, blocks.c.end_turn),
        )
    )
    told: dict[str, tuple[str, str, set[str]]] = {}
    for event_id, block_id, title, message_id in tx.connection.execute(statement):
        told.setdefault(event_id, (block_id, title, set()))[2].add(message_id)
    return [
        ToldEvent(event_id, block_id, title, frozenset(sources))
        for event_id, (block_id, title, sources) in told.items()
    ]
