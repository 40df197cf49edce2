"""A tenant's namespace over HTTP, with ways to run its jobs and to look at all that it shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from sqlalchemy import text

from shared.clock import FixedClock
from shared.settings import Settings
from shared.store.database import Database
from tests.support.databases import Tenant
from workers.models.port import ModelReply, ModelTask
from workers.models.scripted import ScriptedModel
from workers.process import STEPS
from workers.runner import Deps, JobDied, JobRetried, run_job

NS = "project:imports"
Json = dict[str, Any]
HEAD = {
    "schemaVersion": "stratagate.external-memory.v2",
    "sourceType": "external_ai_memory_export",
}
_DUE = "SELECT job_id FROM jobs WHERE state IN ('available', 'retryable') ORDER BY job_id"
_HURRY = "UPDATE jobs SET scheduled_at = now() WHERE state IN ('available', 'retryable')"


def export(*candidates: Json) -> str:
    return json.dumps({**HEAD, "candidates": list(candidates)}, ensure_ascii=False)


def memory(title: str, summary: str | None = None, **more: Any) -> Json:
    return {"title": title, "summary": summary or f"{title}.", **more}


@dataclass
class World:
    http: httpx.Client
    settings: Settings
    database: Database
    tenant: Tenant
    clock: FixedClock
    model: ScriptedModel = field(default_factory=ScriptedModel)
    deps: Deps = field(init=False)
    receipts: int = 0

    def __post_init__(self) -> None:
        self.deps = Deps(
            database=self.database,
            model=self.model,
            settings=self.settings,
            clock=self.clock,
            jitter=lambda: 0.0,
            steps=STEPS,
        )

    # The API

    def post(self, path: str, body: Any = None, expect: int = 200, **headers: str) -> Any:
        answer = self.http.post(
            path, json={} if body is None else body, headers=self.tenant.headers | headers
        )
        assert answer.status_code == expect, answer.text
        return answer.json()

    def get(self, path: str, expect: int = 200, **query: Any) -> Any:
        answer = self.http.get(path, params=query, headers=self.tenant.headers)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def begin(self, **policy: Any) -> None:
        self.http.put(
            f"/v1/namespaces/{NS}", json=policy, headers=self.tenant.headers
        ).raise_for_status()

    def say(self, *said: str, thread_id: str = "main", seal: bool = True) -> None:
        """Post a turn a sentence, seal them, and let everything be derived by the rules."""
        for sentence in said:
            self.receipts += 1
            body = {
                "receipt_id": f"r{self.receipts}",
                "thread_id": thread_id,
                "occurred_at": "2026-03-01T10:00:00+02:00",
                "messages": [
                    {"role": "user", "content": sentence},
                    {"role": "assistant", "content": "Noted."},
                ],
            }
            self.post(f"/v1/namespaces/{NS}/turns", body, expect=201)
        if seal:
            self.post(f"/v1/namespaces/{NS}/threads/{thread_id}/seal")
            self.run_jobs()

    def import_text(self, content: str, expect: int = 202, **more: Any) -> Any:
        return self.post(f"/v1/namespaces/{NS}/imports", {"text": content, **more}, expect=expect)

    def page(self, import_id: str) -> Json:
        found: Json = self.get(f"/v1/imports/{import_id}")
        return found

    def confirm(self, import_id: str, *decisions: Json, expect: int = 200, **more: Any) -> Json:
        body = {"decisions": list(decisions), **more}
        answer: Json = self.post(f"/v1/imports/{import_id}/confirm", body, expect=expect)
        return answer

    def undo(self, import_id: str, expect: int = 200) -> Json:
        answer: Json = self.post(f"/v1/imports/{import_id}/undo", expect=expect)
        return answer

    def decided(self, *candidates: Json, **more: Any) -> Json:
        """Import candidates, run their jobs, and return the page."""
        begun = self.import_text(export(*candidates), **more)
        self.run_jobs()
        return self.page(begun["import_id"])

    def search(self, query: str) -> list[Json]:
        found = self.post(f"/v1/retrieval/{NS}/events/search", {"query": query})
        return list(found["items"])

    def event_ids(self, status: str | None = None) -> dict[str, str]:
        """Return the ids of the events by their titles."""
        items = self.get(f"/v1/retrieval/{NS}/events", limit=100)["items"]
        return {one["title"]: one["event_id"] for one in items}

    # The workers

    def script(self, **behaviours: Callable[[ModelTask[Any]], Any]) -> None:
        """Answer kinds of task by functions; the others follow the rules."""
        self.model.behaviours = {kind: _replying(say) for kind, say in behaviours.items()}

    def due(self) -> list[str]:
        with self.database.read(self.tenant.tenant_id) as tx:
            return list(tx.connection.execute(text(_DUE)).scalars())

    def run_job(self, job_id: str, **settings: Any) -> str:
        deps = self.deps
        if settings:
            deps = replace(deps, settings=self.settings.model_copy(update=settings))
        try:
            return run_job(self.tenant.tenant_id, job_id, deps)
        except (JobRetried, JobDied) as error:
            return type(error).__name__

    def run_jobs(self) -> None:
        """Run jobs until none is due, moving up what waits for another attempt."""
        while due := self.due():
            with self.database.write(self.tenant.tenant_id) as tx:
                tx.connection.execute(text(_HURRY))
            for job_id in due:
                self.run_job(job_id)

    # Everything that readers see

    def everything(self, *queries: str) -> Json:
        """Return the whole read side, without what tells of the moment of asking."""
        home = f"/v1/retrieval/{NS}"
        seen: Json = {
            "events": self.get(f"{home}/events", limit=100),
            "timeline": self.get(f"{home}/timeline", limit=100),
            "graph": self.get(f"{home}/graph"),
            "threads": self.get(f"{home}/threads"),
            "blocks": self.get(f"{home}/blocks", scope="namespace"),
            "context": self.post(f"{home}/context", {"thread_id": "other", "query": queries[0]}),
            "pages": [
                self.get(f"{home}/events/{one}") for one in sorted(self.event_ids().values())
            ],
        }
        for query in queries:
            seen[f"events {query}"] = self.post(f"{home}/events/search", {"query": query})
            seen[f"raw {query}"] = self.post(f"{home}/raw/search", {"query": query})
            seen[f"graph {query}"] = self.post(f"{home}/graph/search", {"query": query})
            seen[f"blocks {query}"] = self.post(f"{home}/blocks/search", {"query": query})
        seen["nodes"] = [
            self.get(f"{home}/graph/nodes/{one['node_id']}/history")
            for one in seen["graph"]["nodes"]
        ]
        namespace = self.get(f"/v1/namespaces/{NS}")
        seen["counts"] = {
            name: namespace["counts"][name] for name in ("turns", "blocks", "events", "nodes")
        } | {name: namespace[name] for name in ("turn_count", "block_count")}
        shown: Json = _without_batches(seen)
        return shown

    def rows(self, table: str) -> list[Json]:
        with self.database.read(self.tenant.tenant_id) as tx:
            found = tx.connection.execute(text(f"SELECT * FROM {table}"))  # noqa: S608 - a name of the test
            return [dict(row._mapping) for row in found]


def _replying(say: Callable[[ModelTask[Any]], Any]) -> Callable[[ModelTask[Any]], ModelReply]:
    return lambda task: ModelReply(say(task), "scripted")


def _without_batches(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_batches(one) for key, one in value.items() if key != "batch_id"}
    if isinstance(value, list):
        return [_without_batches(one) for one in value]
    return value
