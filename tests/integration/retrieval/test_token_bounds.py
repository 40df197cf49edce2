"""Whatever is stored and asked, a reply keeps to `max_tokens`, and every count is the true one."""

from __future__ import annotations

import httpx
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.domain.budget import estimate_tokens
from shared.domain.graph import FactMode, NodeType, RecordStatus, Stance
from shared.domain.graph_proposed import Proposal, ProposedFact, ProposedNode
from shared.store.database import Database
from tests.integration.retrieval.world import World
from tests.support.databases import Tenant

EMPTY = estimate_tokens('{"events":[],"nodes":[],"text":"","tokens":0}')
WORDS = ("garden", "花园", 'quo"ted', "back\\slash", "line\nbreak", "café", "🌱🌱", "<b>tag</b>")
LIMITS = st.one_of(st.integers(0, 400), st.integers(0, 3_000))
_MANY = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def garden(http: httpx.Client, database: Database, tenant: Tenant) -> World:
    """A memory whose texts are of every size and script, in one other conversation."""
    world = World(http, database, tenant)
    block = world.block("Much about the garden.", "Noted.", thread_id="other")
    events = [
        world.event(
            block,
            f"garden {number} {WORDS[number % len(WORDS)]}",
            f"garden {WORDS[number % len(WORDS)]} " * (1 + number * number),
        )
        for number in range(14)
    ]
    for number, event in enumerate(events[:6]):
        fact = ProposedFact(
            "grows", FactMode.STATE, WORDS[number] * 8, Stance.ASSERTED, 0.9, (event,)
        )
        node = ProposedNode(
            "n",
            f"garden {WORDS[number]}",
            NodeType.PLACE,
            RecordStatus.ACTIVE,
            0.9,
            (event,),
            (event,),
            facts=(fact,),
        )
        world.project([event], Proposal("", (node,)))
    for number in range(4):
        world.block(f"We spoke of {WORDS[number]} at length. " * 30, "Indeed.", thread_id="main")
    return world


def _size(value: object) -> int:
    return estimate_tokens(orjson.dumps(value).decode())


@_MANY
@given(
    max_tokens=LIMITS,
    max_events=st.integers(0, 20),
    max_nodes=st.integers(0, 12),
    words=st.lists(st.sampled_from(WORDS), max_size=3),
)
def test_the_activated_section_never_exceeds_its_bound(
    garden: World, max_tokens: int, max_events: int, max_nodes: int, words: list[str]
) -> None:
    body = {
        "thread_id": "main",
        "query": " ".join(("garden", *words)),
        "max_tokens": max_tokens,
        "max_events": max_events,
        "max_nodes": max_nodes,
    }
    activated = garden.ask("context", body)["activated"]
    assert _size(activated) <= max(max_tokens, EMPTY)
    assert activated["tokens"] == estimate_tokens(activated["text"])
    assert len(activated["events"]) <= max_events
    assert len(activated["nodes"]) <= max_nodes
    named = [one["event_id"] for one in activated["events"]]
    named += [one["node_id"] for one in activated["nodes"]]
    assert all(name in activated["text"] for name in named)


@_MANY
@given(max_tokens=st.integers(200, 4_000), limit=st.integers(1, 20))
def test_a_search_reply_never_exceeds_its_bound(garden: World, max_tokens: int, limit: int) -> None:
    body = {"query": "garden", "max_tokens": max_tokens, "limit": limit}
    reply = garden.ask("events/search", body)
    assert _size(reply) <= max_tokens
    whole = garden.ask("events/search", {"query": "garden", "limit": limit})
    shown = [card["event_id"] for card in reply["items"]]
    assert shown == [card["event_id"] for card in whole["items"]][: len(shown)]
    assert reply["truncated"] is (len(shown) < len(whole["items"]))


def test_the_tokens_of_a_block_are_those_of_its_content(garden: World) -> None:
    for thread in ("main", "other"):
        context = garden.ask("context", {"thread_id": thread})
        assert context["blocks"]
        for block in context["blocks"]:
            assert block["tokens"] == estimate_tokens(block["content"])
    listed = garden.see("blocks", scope="namespace")["items"]
    assert listed
    for block in listed:
        assert block["tokens"] == estimate_tokens(block["content"])
