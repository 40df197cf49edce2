"""Load what views of the graph need: whole neighbourhoods, pages of nodes, their versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ARRAY, Text, any_, bindparam, func, select

from shared.domain.graph import GraphState, SourceEvent
from shared.store.database import ReadTx
from shared.store.direct import Direct, only_checked
from shared.store.graph import events_behind, load_state, source_events
from shared.store.tables import events, nodes

_VERSION = bindparam("version_id", type_=Text)
_OF_VERSION = Direct(
    select(nodes.c.node_id).where(
        nodes.c.tenant_id == bindparam("tenant_id"),
        nodes.c.node_id == any_(bindparam("ids", type_=ARRAY(Text))),
        only_checked(nodes.c.graph_version_id) == _VERSION,
    )
)
_ANY_OF_VERSION = Direct(
    select(nodes.c.node_id)
    .where(nodes.c.tenant_id == bindparam("tenant_id"), nodes.c.graph_version_id == _VERSION)
    .limit(1)
)
_OF_THREAD = Direct(
    select(events.c.event_id).where(
        events.c.tenant_id == bindparam("tenant_id"),
        events.c.event_id == any_(bindparam("ids", type_=ARRAY(Text))),
        only_checked(events.c.thread_id) == bindparam("thread_id", type_=Text),
    )
)


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A state that holds some nodes whole, and the events that its records rest on."""

    state: GraphState
    events: Mapping[str, SourceEvent]


def neighbourhood(
    tx: ReadTx,
    node_ids: Collection[str],
    *,
    except_thread: str | None = None,
    derivation: int | None = None,
) -> Neighbourhood:
    """Return these nodes with all that their views need.

    An edge coming in may have been closed by a sibling that leaves the same node for another,
    so the nodes at its other end are loaded whole as well. `except_thread` leaves out what only
    that thread has said; `derivation` names one that is not live, for its events' standing.
    """
    state = load_state(tx, node_ids)
    sources = {edge.from_node_id for edge in state.edges} - set(node_ids)
    if sources:
        state = load_state(tx, {*node_ids, *sources})
    behind = source_events(tx, events_behind(state), version=derivation)
    if except_thread is not None:
        own = _events_of_thread(tx, behind, except_thread)
        behind = {name: event for name, event in behind.items() if name not in own}
    return Neighbourhood(state, behind)


def nodes_of_version(tx: ReadTx, version_id: str, node_ids: Collection[str]) -> set[str]:
    """Return which of the nodes belong to a graph version."""
    if not node_ids:
        return set()
    return set(_OF_VERSION.scalars(tx, version_id=version_id, ids=list(node_ids)))


def page_of_nodes(
    tx: ReadTx, version_id: str, *, before: str | None = None, limit: int
) -> list[str]:
    """Return node ids of a version, newest first, older than the id `before`."""
    statement = select(nodes.c.node_id).where(
        nodes.c.tenant_id == tx.tenant_id, nodes.c.graph_version_id == version_id
    )
    if before is not None:
        statement = statement.where(nodes.c.node_id < before)
    return list(
        tx.connection.execute(statement.order_by(nodes.c.node_id.desc()).limit(limit)).scalars()
    )


def count_nodes(tx: ReadTx, version_id: str) -> int:
    """Return how many nodes a version has."""
    count: int = tx.connection.execute(
        select(func.count())
        .select_from(nodes)
        .where(nodes.c.tenant_id == tx.tenant_id, nodes.c.graph_version_id == version_id)
    ).scalar_one()
    return count


def has_nodes(tx: ReadTx, version_id: str) -> bool:
    """Tell whether a version has any node."""
    return _ANY_OF_VERSION.scalar(tx, version_id=version_id) is not None


def _events_of_thread(tx: ReadTx, event_ids: Collection[str], thread_id: str) -> set[str]:
    if not event_ids:
        return set()
    return set(_OF_THREAD.scalars(tx, ids=list(event_ids), thread_id=thread_id))
