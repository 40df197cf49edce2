"""Another tenant's id, or one beyond the key's list, answers as an id that never existed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from shared.domain.graph import NodeType, RecordStatus
from shared.domain.graph_proposed import Proposal, ProposedNode
from shared.ids import Prefix, new_id
from shared.store.database import Database
from tests.integration.retrieval.world import NS, World
from tests.support.databases import Tenant

USE = {"evidence_refs": [], "receipt_id": "u1"}


@pytest.fixture
def stranger(http: httpx.Client, database: Database, other_tenant: Tenant) -> World:
    return World(http, database, other_tenant)


def _ids(world: World) -> dict[str, str]:
    turn = world.say("The roof leaks.", "Noted.")
    block = world.seal()
    world.make_ready(block)
    event = world.event(block, "Roof leaks")
    node = ProposedNode(
        "roof", "Roof", NodeType.PLACE, RecordStatus.ACTIVE, 0.9, (event,), (event,)
    )
    world.project([event], Proposal("", (node,)))
    batch = world.ask("events/search", {"query": "roof"})["batch_id"]
    node_id = world.see("graph")["nodes"][0]["node_id"]
    return {"evt": event, "nod": node_id, "blk": block, "trn": turn["turn_id"], "bat": batch}


def _unknown() -> dict[str, str]:
    kinds = (Prefix.EVENT, Prefix.NODE, Prefix.BLOCK, Prefix.TURN, Prefix.BATCH)
    return {kind.value: new_id(kind) for kind in kinds}


def _requests(ns: str, ids: dict[str, str]) -> list[tuple[str, str, Any]]:
    base = f"/v1/retrieval/{ns}"
    return [
        ("POST", f"{base}/events/{ids['evt']}/expand", {}),
        ("GET", f"{base}/events/{ids['evt']}", None),
        ("POST", f"{base}/graph/nodes/{ids['nod']}/expand", {}),
        ("GET", f"{base}/graph/nodes/{ids['nod']}/history", None),
        ("POST", f"{base}/blocks/{ids['blk']}/expand", {}),
        ("GET", f"{base}/turns/{ids['trn']}/receipt", None),
        ("GET", f"{base}/blocks/{ids['blk']}", None),
        ("POST", f"/v1/batches/{ids['bat']}/assessment", {"verdict": "partial"}),
        ("POST", f"/v1/batches/{ids['bat']}/use", USE),
    ]


NAMESPACE_ROUTES = [
    ("POST", "events/search", {"query": "roof"}),
    ("POST", "graph/search", {"query": "roof"}),
    ("POST", "raw/search", {"query": "roof"}),
    ("POST", "context", {"query": "roof"}),
    ("GET", "events", None),
    ("GET", "graph", None),
    ("GET", "blocks", None),
    ("GET", "threads", None),
    ("GET", "threads/main/blocks", None),
    ("GET", "timeline", None),
]


def _answer(world: World, method: str, path: str, body: Any, headers: Any = None) -> Any:
    answer = world.http.request(method, path, json=body, headers=headers or world.headers)
    content = answer.json()
    if answer.status_code == 200:
        return 200, content
    assert path.rsplit("/", 2)[-2] not in content["detail"]
    content.pop("request_id")
    return answer.status_code, content


def test_another_tenants_ids_answer_as_ids_that_never_were(world: World, stranger: World) -> None:
    theirs = _ids(world)
    stranger.begin()
    found = [_answer(stranger, *request) for request in _requests(NS, theirs)]
    never = [_answer(stranger, *request) for request in _requests(NS, _unknown())]
    assert found == never
    assert {status for status, _ in found} == {404}
    for request in _requests(NS, theirs)[:6]:
        assert _answer(world, *request)[0] == 200, request


def test_a_namespace_that_is_not_there_or_not_theirs_is_404(world: World, stranger: World) -> None:
    _ids(world)
    for method, path, body in NAMESPACE_ROUTES:
        theirs = _answer(stranger, method, f"/v1/retrieval/{NS}/{path}", body)
        never = _answer(stranger, method, f"/v1/retrieval/project:never/{path}", body)
        assert theirs == never
        assert theirs[0] == 404
        assert _answer(world, method, f"/v1/retrieval/{NS}/{path}", body)[0] == 200


def test_a_key_reaches_only_the_namespaces_of_its_list(world: World) -> None:
    ids = _ids(world)
    made = world.post(
        "/v1/keys",
        {"label": "narrow", "permissions": ["read", "use"], "namespaces": ["project:other"]},
    )
    assert made.status_code == 201, made.text
    narrow = {"Authorization": f"Bearer {made.json()['key']}"}
    found = [_answer(world, *request, narrow) for request in _requests(NS, ids)]
    never = [_answer(world, *request, narrow) for request in _requests("project:x", _unknown())]
    assert found == never
    assert {status for status, _ in found} == {404}


def test_an_id_of_the_wrong_kind_is_422(world: World) -> None:
    world.begin()
    wrong = dict.fromkeys(("evt", "nod", "blk", "trn", "bat"), new_id(Prefix.JOB))
    for method, path, body in _requests(NS, wrong):
        status, content = _answer(world, method, path, body)
        assert (status, content["code"]) == (422, "wrong_id_type")


def test_no_key_is_401_and_a_key_without_read_is_403(world: World) -> None:
    world.begin()
    made = world.post("/v1/keys", {"label": "writer", "permissions": ["ingest"]}).json()
    writer = {"Authorization": f"Bearer {made['key']}"}
    for method, path, body in NAMESPACE_ROUTES:
        url = f"/v1/retrieval/{NS}/{path}"
        assert world.http.request(method, url, json=body).status_code == 401
        assert world.http.request(method, url, json=body, headers=writer).status_code == 403


def test_an_event_of_another_namespace_is_not_found_in_this_one(world: World) -> None:
    ids = _ids(world)
    other = "project:neighbour"
    answer = world.http.put(f"/v1/namespaces/{other}", json={}, headers=world.headers)
    assert answer.status_code in (200, 201)
    for request in _requests(other, ids)[:6]:
        assert _answer(world, *request)[0] == 404, request
