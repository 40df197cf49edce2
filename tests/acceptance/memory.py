"""One namespace as an agent platform uses it: over HTTP, with a key, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import httpx

from tests.support.databases import Tenant
from tests.support.stack import RunningSystem

FINAL = frozenset({"succeeded", "succeeded_empty", "degraded", "dead", "cancelled", "skipped"})
Json = dict[str, Any]
SCRIPTED: Mapping[str, object] = {"provider": "scripted", "model": "scripted"}
"""The policy of a namespace whose models do as the system's script says."""


class Memory:
    """A namespace of a running system, seen with a tenant's admin key.

    Every call asserts the status that the contract promises and returns the decoded body.
    """

    def __init__(self, system: RunningSystem, tenant: Tenant, namespace: str) -> None:
        self.system = system
        self.tenant = tenant
        self.namespace = namespace
        self.http = system.client(tenant.admin_key)
        self.written = f"/v1/namespaces/{namespace}"
        self.read = f"/v1/retrieval/{namespace}"

    def begin(self, **policy: object) -> Json:
        """Begin the namespace with a policy."""
        return self.put(self.written, policy)

    def turn(self, receipt_id: str, user: str, assistant: str = "Noted.", **more: object) -> Json:
        """Post one turn of a user and an assistant message."""
        return self.post(f"{self.written}/turns", turn(receipt_id, user, assistant, **more))

    def seal(self, thread_id: str) -> list[str]:
        """Seal the thread's open tail and return its new blocks."""
        answer = self.post(f"{self.written}/threads/{thread_id}/seal", expect=200)
        return list(answer["sealed_block_ids"])

    def search_raw(self, query: str, **more: object) -> Json:
        """Search the source messages."""
        return self.post(f"{self.read}/raw/search", {"query": query, **more}, expect=200)

    def search_events(self, query: str, **more: object) -> Json:
        """Search the events."""
        return self.post(f"{self.read}/events/search", {"query": query, **more}, expect=200)

    def search_graph(self, query: str, **more: object) -> Json:
        """Search the graph's nodes."""
        return self.post(f"{self.read}/graph/search", {"query": query, **more}, expect=200)

    def context(self, thread_id: str, **more: object) -> Json:
        """Return what the thread's next turn should know."""
        return self.post(f"{self.read}/context", {"thread_id": thread_id, **more}, expect=200)

    def blocks(self, thread_id: str, *, scope: str = "session") -> Json:
        """Return the blocks at their current level."""
        return self.get(f"{self.read}/blocks", scope=scope, thread_id=thread_id)

    def assess(
        self, batch_id: str, verdict: str, refs: Sequence[str], *, strategy: str, **more: object
    ) -> Json:
        """Submit an assessment of a batch."""
        body = {
            "verdict": verdict,
            "evidence_refs": list(refs),
            "fit": "judged by the test",
            "next_strategy": strategy,
            **more,
        }
        return self.post(f"/v1/batches/{batch_id}/assessment", body, expect=200)

    def use(self, batch_id: str, refs: Sequence[str], receipt_id: str, **more: object) -> Json:
        """Record that an answer used evidence of a batch."""
        body = {"evidence_refs": list(refs), "receipt_id": receipt_id, **more}
        return self.post(f"/v1/batches/{batch_id}/use", body, expect=(200, 201))

    def turn_receipt(self, turn_id: str) -> Json:
        """Return what became of a turn."""
        return self.get(f"{self.read}/turns/{turn_id}/receipt")

    def jobs(self, **asked: object) -> list[Json]:
        """Return all jobs of the namespace, newest first."""
        found: list[Json] = []
        cursor: str | None = None
        while True:
            more = {} if cursor is None else {"cursor": cursor}
            page = self.get("/v1/jobs", namespace=self.namespace, limit=100, **asked, **more)
            found += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    def settled_jobs(self, *, within_s: float = 60.0) -> list[Json]:
        """Wait until the namespace has jobs and all are over; return them."""

        def settled() -> list[Json]:
            jobs = self.jobs()
            return jobs if jobs and all(job["state"] in FINAL for job in jobs) else []

        return self.system.wait_until(settled, "every job is over", within_s=within_s)

    def block_status(self, thread_id: str) -> dict[str, str]:
        """Return the standing of each block of the thread, in order, as context tells it."""
        return {block["block_id"]: block["status"] for block in self.context(thread_id)["blocks"]}

    def wait_ready(self, thread_id: str, *, blocks: int, within_s: float = 60.0) -> list[str]:
        """Wait until so many blocks of the thread are ready, and no other is; return their ids."""

        def ready() -> bool:
            return list(self.block_status(thread_id).values()) == ["ready"] * blocks

        self.system.wait_until(ready, f"{blocks} blocks are ready", within_s=within_s)
        return list(self.block_status(thread_id))

    def get(self, path: str, **asked: Any) -> Json:
        """GET a path that exists."""
        return checked(self.http.get(path, params=asked), 200)

    def put(self, path: str, body: Mapping[str, object]) -> Json:
        """PUT a body that is accepted."""
        return checked(self.http.put(path, json=dict(body)), 200, 201)

    def post(
        self,
        path: str,
        body: Mapping[str, object] | Sequence[object] | None = None,
        *,
        expect: int | tuple[int, ...] = 201,
    ) -> Json:
        """POST a body and expect one of these statuses."""
        wanted = (expect,) if isinstance(expect, int) else expect
        return checked(self.http.post(path, json=body), *wanted)


def turn(receipt_id: str, user: str, assistant: str = "Noted.", **more: object) -> Json:
    """Return the body of a turn; unless said otherwise, of thread `main` on 2 March 2026."""
    return {
        "thread_id": "main",
        "receipt_id": receipt_id,
        "occurred_at": "2026-03-02T09:00:00+01:00",
        "timezone": "Europe/Berlin",
        "messages": [
            {"role": "user", "content": user},
            {"role": "assistant", "content": assistant},
        ],
        **more,
    }


def at_minute(number: int, start: str = "2026-03-02T09:00:00+01:00") -> str:
    """Return the instant so many minutes after `start`, with its offset."""
    return (datetime.fromisoformat(start) + timedelta(minutes=number)).isoformat()


def checked(response: httpx.Response, *expected: int) -> Json:
    """Return the body of a response that has one of the expected statuses."""
    assert response.status_code in expected, (
        f"{response.request.method} {response.request.url} answered {response.status_code}: "
        f"{response.text[:1000]}"
    )
    body: Json = response.json()
    return body
