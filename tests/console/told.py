"""A memory worth looking at: the demo's conversation, processed by the rules, with a contradiction.

Small, as every test of a page waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from deploy.demo_conversation import TURNS
from shared.store.event_writes import add_links
from shared.store.events import EventLink
from tests.support.databases import Tenant
from tests.support.stack import RunningSystem

BLOCK_TURN_SIZE = 4
_LIVE = ("available", "running", "retryable")
_PROCESSED_S = 180.0


@dataclass(frozen=True, slots=True)
class Told:
    """A processed namespace: its tenant, its client, and its events by title."""

    system: RunningSystem
    tenant: Tenant
    namespace: str
    http: httpx.Client
    events: dict[str, str]

    @property
    def read(self) -> str:
        """The path of the namespace's reads."""
        return f"/v1/retrieval/{self.namespace}"

    @property
    def written(self) -> str:
        """The path of the namespace's writes."""
        return f"/v1/namespaces/{self.namespace}"

    def see(self, path: str, **query: str | int) -> dict[str, Any]:
        """GET below the reads; the answer must be 200."""
        answer = self.http.get(f"{self.read}/{path}", params=query)
        assert answer.status_code == 200, answer.text
        content: dict[str, Any] = answer.json()
        return content

    def contradict(self, one: str, other: str) -> None:
        """Link two events as a contradiction, as a derivation does."""
        kind = "conflicts_with"
        with self.system.database.write(self.tenant.tenant_id) as tx:
            add_links(tx, [EventLink(one, kind, other), EventLink(other, kind, one)])


def tell_demo(system: RunningSystem, namespace: str, tenant: Tenant | None = None) -> Told:
    """Post the demo's forty turns into a namespace and wait until nothing is left to do."""
    tenant = tenant or system.new_tenant("console")
    http = system.client(tenant.admin_key)
    put = http.put(f"/v1/namespaces/{namespace}", json={"block_turn_size": BLOCK_TURN_SIZE})
    assert put.status_code in (200, 201), put.text
    for number, turn in enumerate(TURNS):
        posted = http.post(f"/v1/namespaces/{namespace}/turns", json=turn.body(number))
        assert posted.status_code == 201, posted.text
    wait_for_jobs(system, http, namespace)
    items = http.get(f"/v1/retrieval/{namespace}/events", params={"limit": 200}).json()["items"]
    events = {item["title"]: item["event_id"] for item in items}
    return Told(system, tenant, namespace, http, events)


def wait_for_jobs(system: RunningSystem, http: httpx.Client, namespace: str) -> None:
    """Wait until no job of the namespace is live."""

    def is_done() -> bool:
        query = {"namespace": namespace, "state": list(_LIVE)}
        found = http.get("/v1/jobs", params=query)
        assert found.status_code == 200, found.text
        return not found.json()["items"]

    system.wait_until(is_done, "all jobs have ended", within_s=_PROCESSED_S, poll_s=0.3)
