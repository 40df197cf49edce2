"""Keep the search documents of nodes in step with what readers see of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.graph import GraphState, SourceEvent
from shared.domain.graph_view import node_views
from shared.store.database import WriteTx
from shared.store.derived_documents import node_document
from shared.store.graph import events_behind, load_state, source_events
from shared.store.search_index import DocumentKind, index_documents, remove_documents


@dataclass(frozen=True, slots=True)
class LoadedNodes:
    """Nodes as a transaction has just left them, so that they need not be read again.

    `whole` are the ones that `state` holds with all that their views need, `new` those without a
    document yet; `events` holds the sources of all records.
    """

    state: GraphState
    events: Mapping[str, SourceEvent]
    whole: Collection[str]
    new: Collection[str]


def index_nodes(
    tx: WriteTx,
    namespace: str,
    node_ids: Collection[str],
    now: datetime,
    *,
    graph_version_id: str,
    derivation: int | None = None,
    loaded: LoadedNodes | None = None,
) -> None:
    """Write the documents of nodes anew, as readers see them now; hidden and gone ones have none.

    `derivation` names the one that the graph version rests on, where that is not the live one.
    What is not `loaded` whole is read.
    """
    if not node_ids:
        return
    if loaded is not None and not set(node_ids) - set(loaded.whole):
        state, events, new = loaded.state, loaded.events, set(loaded.new)
    else:
        state, new = load_state(tx, sorted(node_ids)), set()
        events = source_events(tx, events_behind(state), version=derivation)
    views = {view.id: view for view in node_views(state, events)}
    names = {view.id: " ".join((view.name, *view.aliases)) for view in views.values() if view.name}
    shown = [views[one] for one in sorted(node_ids) if one in views]
    documents = {
        view.id: node_document(view, names, at=_latest(view.source_event_ids, events, now))
        for view in shown
    }
    hidden = sorted(set(node_ids) - documents.keys() - new)
    version = graph_version_id
    remove_documents(tx, namespace, DocumentKind.NODE, hidden, version=version)
    first = [document for name, document in documents.items() if name in new]
    again = [document for name, document in documents.items() if name not in new]
    index_documents(tx, namespace, DocumentKind.NODE, first, are_new=True, version=version)
    index_documents(tx, namespace, DocumentKind.NODE, again, version=version)


def _latest(
    event_ids: Sequence[str], events: Mapping[str, SourceEvent], default: datetime
) -> datetime:
    said = [events[one].said_at for one in event_ids if one in events]
    return max(said, default=default)
