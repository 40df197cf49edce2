"""Search the graph: nodes by their names, facts and the nodes they are related to (section 17)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from retrieval.batches import new_batch_id, record_batch
from retrieval.graph_cards import NodeCard, node_card, node_ref
from retrieval.graph_match import NodeMatch, match_node
from retrieval.graph_views import LoadedViews, load_views
from retrieval.progress import Pending, empty_reason, next_step, pending
from retrieval.reader import Reader
from retrieval.schemas import GraphSearch
from retrieval.times import read_instant
from shared.domain.fusion import Scaling, scaled_scores
from shared.domain.graph_view import NodeView
from shared.domain.ranking.scoring import Signals, rank_by_signals, shares_of
from shared.domain.ranking.weights import NODES, Signal
from shared.domain.search_terms import TermFinder, query_terms
from shared.store.batches import BatchItem
from shared.store.database import ReadTx, WriteTx
from shared.store.events import events_by_id
from shared.store.graph_reads import has_nodes, nodes_of_version
from shared.store.search import bm25_search
from shared.store.search_keys import DocumentKind

CANDIDATES = 60
"""How many nodes are looked at; each is checked against what is visible of it now."""


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node that answers the query, with what of it does."""

    view: NodeView
    match: NodeMatch
    score: float
    signals: Signals


@dataclass(frozen=True, slots=True)
class GraphReply:
    """What a graph search answers; `at` is the instant it stands for, null for now."""

    batch_id: str
    items: list[NodeCard]
    at: str | None
    empty_reason: str | None
    pending: Pending
    next_step: str | None


def search_graph(tx: WriteTx, reader: Reader, asked: GraphSearch) -> GraphReply:
    """Return the nodes that answer a query, best first, and record them as a batch."""
    at = None
    if asked.at is not None:
        at = read_instant(asked.at, timezone=asked.timezone, pointer="/at")
    loaded, found = found_nodes(tx, reader, asked.query, at=at)
    wanted = [one for one in found if not asked.node_types or one.view.type in asked.node_types]
    shown = wanted[: asked.limit]
    items = _cards(tx, loaded, shown)
    waiting = pending(tx, reader, for_graph=True)
    version = reader.namespace.graph_version_id
    reason = empty_reason(
        reader,
        waiting,
        is_empty=not items,
        is_filtered=bool(found) and not wanted,
        has_any=version is not None and has_nodes(tx, version),
    )
    batch_id = new_batch_id()
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="memory_search_graph",
        query=asked.query,
        request=asked.model_dump(mode="json", exclude_defaults=True, by_alias=True),
        items=[
            BatchItem(node_ref(one.view.id), one.match.event_ids, round(one.score, 6))
            for one in shown
        ],
    )
    shown_at = None if at is None else at.isoformat()
    return GraphReply(batch_id, items, shown_at, reason, waiting, next_step(reason))


def found_nodes(
    tx: ReadTx,
    reader: Reader,
    query: str,
    *,
    at: datetime | None = None,
    except_thread: str | None = None,
    candidates: int = CANDIDATES,
    terms: Mapping[str, float] | None = None,
) -> tuple[LoadedViews, list[FoundNode]]:
    """Return the nodes whose visible records answer a query, best first.

    `terms` are the query's, where they are known already.
    """
    version = reader.namespace.graph_version_id
    terms = query_terms(query) if terms is None else terms
    if version is None or not terms:
        return LoadedViews((), {}), []
    hits = bm25_search(tx, reader.name, DocumentKind.NODE, terms, limit=candidates, version=version)
    live = nodes_of_version(tx, version, [hit.document_id for hit in hits])
    scores = {hit.document_id: hit.score for hit in hits if hit.document_id in live}
    loaded = load_views(tx, list(scores), at=at, except_thread=except_thread)
    spellings, finder = loaded.spellings, TermFinder(terms)
    matches = {
        view.id: (view, match)
        for view in loaded.asked
        if (match := match_node(view, finder, spellings)) is not None
    }
    words = {name: scores[name] for name in matches}
    ranked = rank_by_signals({Signal.WORDS: scaled_scores(words, Scaling.BEST)}, NODES)
    return loaded, [FoundNode(*matches[one.id], one.score, one.signals) for one in ranked]


def _cards(tx: ReadTx, loaded: LoadedViews, shown: list[FoundNode]) -> list[NodeCard]:
    behind = {name for one in shown for name in one.match.event_ids}
    for one in shown:
        behind |= {name for fact in one.match.facts for name in fact.source_event_ids}
        behind |= {name for edge in one.match.edges for name in edge.source_event_ids}
    events = events_by_id(tx, behind)
    names = loaded.names
    return [
        node_card(
            one.view,
            one.match,
            score=one.score,
            signals=shares_of(one.signals, NODES),
            names=names,
            events=events,
        )
        for one in shown
    ]
