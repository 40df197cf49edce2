from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from shared.domain.layers import render_layers
from shared.store.block_views import layer_tokens
from shared.store.blocks import BlockRow, layer_texts, list_blocks
from shared.store.database import Database
from shared.store.messages import turns_range
from tests.integration.ingest.serving import turn
from tests.support.databases import Tenant

NAMESPACE = "project:bridge"
HOME = f"/v1/namespaces/{NAMESPACE}"


def blocks(database: Database, tenant: Tenant) -> list[BlockRow]:
    with database.read(tenant.tenant_id) as tx:
        return list_blocks(tx, NAMESPACE)


def test_lost_10_sealing_is_by_count_alone(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    api.put(HOME, json={"block_turn_size": 6})
    start = datetime(2026, 5, 1, 8, tzinfo=UTC)
    items: list[dict[str, Any]] = [
        turn(
            f"r{i}",
            f"Still on the same bridge design, detail number {i}.",
            thread_id="t",
            timezone="UTC",
            occurred_at=(start + timedelta(minutes=i)).isoformat(),
        )
        for i in range(100)
    ]
    answer = api.post(f"{HOME}/turns/batch", json=items).json()
    assert answer["stored"] == 100
    assert answer["items"][-1]["turn"]["open_tail_turns"] == 4
    sealed = blocks(database, tenant)
    assert [(b.start_turn, b.end_turn) for b in sealed] == [(n, n + 5) for n in range(1, 97, 6)]
    assert [b.formed_turn for b in sealed] == list(range(6, 97, 6))
    assert sealed[0].started_at == start
    assert sealed[0].ended_at == start + timedelta(minutes=5)


def test_a_block_holds_its_levels_as_the_rules_render_them(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    api.put(HOME, json={"block_turn_size": 2})
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"
    api.post(f"{HOME}/turns", json=turn("r1", f"Keep {secret} safe.", thread_id="t"))
    api.post(f"{HOME}/turns", json=turn("r2", "OK.", thread_id="t"))
    (block,) = blocks(database, tenant)
    with database.read(tenant.tenant_id) as tx:
        stored = turns_range(tx, NAMESPACE, "t", first=1, last=2)
        tokens = layer_tokens(tx, [block.block_id])
        texts = {
            level: layer_texts(tx, {block.block_id: level})[block.block_id] for level in (3, 4, 5)
        }
    expected = render_layers([item.message for item in stored])
    assert texts == {5: expected.l5, 4: expected.l4, 3: expected.l3}
    assert tokens == {(block.block_id, n): expected.tokens[f"l{n}"] for n in (3, 4, 5)}
    assert secret not in "".join(texts.values())


def test_threads_have_their_own_tails_and_one_clock(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    api.put(HOME, json={"block_turn_size": 2})
    for n, thread in enumerate(["a", "b", "a", "b"]):
        api.post(f"{HOME}/turns", json=turn(f"r{n}", thread_id=thread))
    found = [
        (b.thread_id, b.start_turn, b.end_turn, b.formed_turn) for b in blocks(database, tenant)
    ]
    assert found == [("a", 1, 2, 3), ("b", 1, 2, 4)]


def test_a_smaller_size_seals_at_once_and_ranges_count_real_turns(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    api.put(HOME, json={"block_turn_size": 4})
    for n in range(7):
        api.post(f"{HOME}/turns", json=turn(f"r{n}", thread_id="t"))
    answer = api.patch(HOME, json={"block_turn_size": 2}).json()
    assert len(answer["sealed_block_ids"]) == 1
    api.post(f"{HOME}/turns", json=turn("r7", thread_id="t"))
    ranges = [(b.start_turn, b.end_turn) for b in blocks(database, tenant)]
    assert ranges == [(1, 4), (5, 6), (7, 8)]


def test_sealing_by_hand_closes_the_whole_tail_once(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    for n in range(3):
        api.post(f"{HOME}/turns", json=turn(f"r{n}"))
    headers = {"Idempotency-Key": "end-of-day"}
    first = api.post(f"{HOME}/threads/unthreaded/seal", headers=headers)
    assert first.status_code == 200
    assert first.json()["open_tail_turns"] == 0
    assert len(first.json()["sealed_block_ids"]) == 1
    api.post(f"{HOME}/turns", json=turn("r3"))
    again = api.post(f"{HOME}/threads/unthreaded/seal", headers=headers)
    assert again.json() == {**first.json(), "duplicate": True}
    assert api.post(f"{HOME}/threads/unthreaded/seal").json()["sealed_block_ids"] != []
    assert [(b.start_turn, b.end_turn) for b in blocks(database, tenant)] == [(1, 3), (4, 4)]
    assert api.post(f"{HOME}/threads/unthreaded/seal").json()["sealed_block_ids"] == []


def test_a_thread_without_turns_cannot_be_sealed(api: httpx.Client) -> None:
    assert api.post(f"{HOME}/threads/nobody/seal").status_code == 404
