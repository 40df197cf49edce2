"""The knowledge graph over HTTP: search, expand, draw, and what was believed since when."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter

from retrieval.expand import NodeExpansionReply, expand_node
from retrieval.graph_listing import DrawnGraph, draw_graph
from retrieval.graph_search import GraphReply, search_graph
from retrieval.history import NodeHistory, node_history
from retrieval.routes.edge import ReadEdge
from retrieval.schemas import GraphSearch, NodeExpansion
from retrieval.times import read_instant
from shared.http.paging import PageOf, encode_cursor
from shared.ids import Prefix, check_id

router = APIRouter(prefix="/v1/retrieval/{ns}/graph", tags=["graph"])


@router.post("/search", summary="Search graph nodes")
def post_graph_search(ns: str, asked: GraphSearch, edge: ReadEdge) -> GraphReply:
    """Current state, or the state that held at `at`."""
    with edge.writing(ns, asked.thread_id) as (tx, reader):
        return search_graph(tx, reader, asked)


@router.post("/nodes/{nod}/expand", summary="Read a node whole, as a new batch")
def post_node_expand(
    ns: str, nod: str, edge: ReadEdge, asked: NodeExpansion | None = None
) -> NodeExpansionReply:
    """All facts and edges with their validity and source events."""
    node_id = check_id(nod, Prefix.NODE, "/path/nod")
    wanted = asked or NodeExpansion()
    with edge.writing(ns, wanted.thread_id) as (tx, reader):
        return expand_node(tx, reader, node_id, asked=wanted)


@router.get("", summary="Nodes and edges for drawing")
def get_graph(
    ns: str,
    edge: ReadEdge,
    page: PageOf,
    at: str | None = None,
    timezone: str | None = None,
) -> DrawnGraph:
    """Newest nodes first, with every edge at them."""
    moment = None
    if at is not None:
        moment = read_instant(at, timezone=timezone, pointer="/query/at")
    with edge.reading(ns) as (tx, reader):
        drawn = draw_graph(tx, reader, at=moment, before=page.after, limit=page.limit)
    last = drawn.next_cursor
    return replace(drawn, next_cursor=None if last is None else encode_cursor(last))


@router.get("/nodes/{nod}/history", summary="What was believed of a node, and on what")
def get_node_history(ns: str, nod: str, edge: ReadEdge, page: PageOf) -> NodeHistory:
    """Oldest belief first, each with the quotes it rests on."""
    node_id = check_id(nod, Prefix.NODE, "/path/nod")
    with edge.reading(ns) as (tx, reader):
        told = node_history(tx, reader, node_id, after=page.after, limit=page.limit)
    last = told.next_cursor
    return replace(told, next_cursor=None if last is None else encode_cursor(last))
