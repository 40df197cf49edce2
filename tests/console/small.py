"""A small memory that a test may change, with a message that tries to become a part of the page."""

from __future__ import annotations

from typing import Any

from deploy.demo_conversation import TURNS
from tests.console.told import Told, wait_for_jobs

HOSTILE = (
    "We decided to use <script>window.pwned=1</script> as the editor of Orion. "
    '<img src="x" onerror="window.pwned=2"> [the plan](javascript:window.pwned=3) is **bold**.'
)
_TURNS = 14
_DATE = "2026-03-01T09:00:00+01:00"


def tell_small(told: Told, namespace: str) -> Told:
    """Post some of the demo's turns and a hostile one, seal all, and wait until it is processed."""
    path = f"/v1/namespaces/{namespace}"
    put = told.http.put(path, json={"block_turn_size": 4})
    assert put.status_code in (200, 201), put.text
    bodies = [turn.body(number) for number, turn in enumerate(TURNS[:_TURNS])]
    for body in [*bodies, _hostile_turn()]:
        posted = told.http.post(f"{path}/turns", json=body)
        assert posted.status_code == 201, posted.text
    for thread in {str(body["thread_id"]) for body in bodies}:
        sealed = told.http.post(f"{path}/threads/{thread}/seal")
        assert sealed.status_code in (200, 201, 202), sealed.text
    wait_for_jobs(told.system, told.http, namespace)
    found = told.http.get(f"/v1/retrieval/{namespace}/events", params={"limit": 200})
    events = {one["title"]: one["event_id"] for one in found.json()["items"]}
    return Told(told.system, told.tenant, namespace, told.http, events)


def _hostile_turn() -> dict[str, Any]:
    return {
        "thread_id": "orion",
        "receipt_id": "hostile",
        "occurred_at": _DATE,
        "messages": [
            {"role": "user", "content": HOSTILE},
            {"role": "assistant", "content": "Noted: </textarea><b>an editor</b>."},
        ],
    }
