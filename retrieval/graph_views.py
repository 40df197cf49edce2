"""Load node views of the live graph version, with the names at the other ends of their edges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.graph_view import NodeView, node_views
from shared.store.database import ReadTx
from shared.store.graph_reads import neighbourhood


@dataclass(frozen=True, slots=True)
class LoadedViews:
    """Views of the nodes asked for, and of every node at the other end of their edges."""

    asked: tuple[NodeView, ...]
    all_by_id: Mapping[str, NodeView]

    @property
    def names(self) -> dict[str, str]:
        """The name of each loaded node; '' where no visible event carries one."""
        return {view.id: view.name for view in self.all_by_id.values()}

    @property
    def spellings(self) -> dict[str, tuple[str, ...]]:
        """The name and aliases of each loaded node."""
        return {view.id: (view.name, *view.aliases) for view in self.all_by_id.values()}


def load_views(
    tx: ReadTx,
    node_ids: Collection[str],
    *,
    at: datetime | None = None,
    except_thread: str | None = None,
) -> LoadedViews:
    """Return the views of visible nodes, now or at an instant, in the order of their ids."""
    loaded = neighbourhood(tx, node_ids, except_thread=except_thread)
    views = {view.id: view for view in node_views(loaded.state, loaded.events, at=at)}
    return LoadedViews(tuple(views[name] for name in sorted(node_ids) if name in views), views)
