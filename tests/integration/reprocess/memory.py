"""A small namespace with a model whose words a test may change, driven job by job."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
from sqlalchemy import text

from shared.clock import FixedClock
from shared.settings import Settings
from shared.store.database import Database
from workers.models.port import ModelError, ModelReply, ModelTask
from workers.models.scripted import ScriptedModel
from workers.process import STEPS
from workers.runner import Deps, JobDied, JobRetried, run_job

NAMESPACE = "project:again"
HOME = f"/v1/namespaces/{NAMESPACE}"
READ = f"/v1/retrieval/{NAMESPACE}"
SAID = (
    "Ann lives in Oslo",
    "Ben lives in Rome",
    "Cleo lives in Lima",
    "Dan lives in Kyiv",
    "Eve lives in Bern",
    "Finn lives in Riga",
    "Ann lives in Turku",
    "Gil lives in Doha",
)
_TOLD = re.compile(r"(\w+) (lives in|dwells in) (\w+)")


@dataclass
class Memory:
    """One namespace. `verb` is how the model tells events, `key` what it calls a home."""

    client: httpx.Client
    settings: Settings
    database: Database
    tenant_id: str
    verb: str = "lives in"
    key: str = "home"
    failing: str | None = None
    retold: frozenset[str] = frozenset()
    deps: Deps = field(init=False)
    calls: int = 0
    posted: int = 0

    def __post_init__(self) -> None:
        model = ScriptedModel(
            behaviours={
                "summarize": self._summarize,
                "extract": self._extract,
                "project": self._project,
            }
        )
        self.deps = Deps(
            database=self.database,
            model=model,
            settings=self.settings,
            clock=FixedClock(datetime(2026, 3, 2, 9, tzinfo=UTC)),
            jitter=lambda: 0.0,
            steps=STEPS,
        )

    def live_through(self) -> None:
        """Say everything, two turns a block, and walk it to the graph."""
        self.say(*SAID)
        self.run()

    def say(self, *words: str) -> None:
        """Post turns; two seal a block."""
        for one in words:
            self.posted += 1
            answer = self.client.post(
                f"{HOME}/turns",
                json={
                    "receipt_id": f"r{self.posted}",
                    "thread_id": "main",
                    "occurred_at": f"2026-02-{self.posted:02d}T10:00:00+01:00",
                    "messages": [{"role": "user", "content": f"{one}."}],
                },
            )
            assert answer.status_code == 201, answer.text

    def run(self, *, at_most: int = 1_000, queue: str | None = None) -> int:
        """Run due jobs one by one, as often as they are retried; return how many attempts."""
        done = 0
        while done < at_most and (job_id := self._next(queue)) is not None:
            done += 1
            try:
                run_job(self.tenant_id, job_id, self.deps)
            except (JobRetried, JobDied):
                continue
        return done

    def reprocess(self, *stages: str, **body: Any) -> dict[str, Any]:
        """Ask for a batch re-derivation."""
        answer = self.client.post(f"{HOME}/reprocess", json={"stages": list(stages), **body})
        assert answer.status_code == 202, answer.text
        begun: dict[str, Any] = answer.json()
        return begun

    def version(self, version_id: str) -> dict[str, Any]:
        """Read one version."""
        found: dict[str, Any] = self.client.get(f"{HOME}/graph-versions/{version_id}").json()
        return found

    def live_id(self) -> str:
        """Return the live version's id."""
        items = self.client.get(f"{HOME}/graph-versions").json()["items"]
        return next(str(one["graph_version_id"]) for one in items if one["state"] == "live")

    def switch(self, version_id: str, **body: Any) -> httpx.Response:
        """Switch to a version."""
        return self.client.post(f"{HOME}/graph-versions/{version_id}/switch", json=body)

    def diff(self, version_id: str) -> dict[str, Any]:
        """Read what a switch would change."""
        found: dict[str, Any] = self.client.get(f"{HOME}/graph-versions/{version_id}/diff").json()
        return found

    def readings(self) -> dict[str, Any]:
        """Return all that readers see: the graph, the events, and what searches find."""
        post = self.client.post
        found = {
            "graph": self.client.get(f"{READ}/graph", params={"limit": 200}).json(),
            "events": self.client.get(f"{READ}/events", params={"limit": 200}).json(),
            "timeline": self.client.get(f"{READ}/timeline", params={"limit": 200}).json(),
            "blocks": self.client.get(f"{READ}/blocks", params={"scope": "namespace"}).json(),
        }
        for query in ("Ann", "Oslo", "Turku", "who lives in Rome"):
            events = post(f"{READ}/events/search", json={"query": query}).json()
            nodes = post(f"{READ}/graph/search", json={"query": query}).json()
            found[f"events {query}"], found[f"nodes {query}"] = events["items"], nodes["items"]
        found["blocks"].pop("batch_id")
        return found

    def homes(self) -> set[str]:
        """Return what the live graph tells of where people live."""
        nodes = self.client.get(f"{READ}/graph", params={"limit": 200}).json()["nodes"]
        return {f"{one['name']}: {one['current_state']}" for one in nodes}

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Run a statement as the tenant."""
        with self.database.write(self.tenant_id) as tx:
            result = tx.connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    def _next(self, queue: str | None) -> str | None:
        rows = self.sql(
            "UPDATE jobs SET scheduled_at = now() WHERE job_id = (SELECT job_id FROM jobs "
            "WHERE state IN ('available', 'retryable') AND (:queue = '' OR queue = :queue) "
            "ORDER BY priority DESC, job_id LIMIT 1) RETURNING job_id",
            queue=queue or "",
        )
        return rows[0].job_id if rows else None

    def _summarize(self, task: ModelTask[Any]) -> ModelReply:
        said = " ".join(one.content for one in task.input.messages)
        summary = {
            "title": said[:60],
            "tags": [],
            "summary": f"{said} ({self.verb})",
            "keypoints": [said],
            "shouldExtract": True,
        }
        return ModelReply(summary, "scripted")

    def _extract(self, task: ModelTask[Any]) -> ModelReply:
        self._count(" ".join(one.content for one in task.input.messages))
        events = []
        for message in task.input.messages:
            told = _TOLD.search(message.content)
            if told is None:
                continue
            verb = self.verb if not self.retold or told[1] in self.retold else "lives in"
            older = [
                one.event_id
                for one in task.input.timeline
                if one.title.startswith(f"{told[1]} ") and told[3] not in one.title
            ]
            events.append(
                {
                    "title": f"{told[1]} {verb} {told[3]}",
                    "summary": f"{told[1]} {verb} {told[3]}.",
                    "sourceMessageIds": [message.id],
                    "scope": "user",
                    "criticality": "routine",
                    "tags": [],
                    "quotes": [{"messageId": message.id, "text": told[0]}],
                    "temporal": {
                        "eventType": "other",
                        "participants": [told[1]],
                        "supersedesEventIds": older,
                    },
                }
            )
        reply = {"shouldExtract": True, "reason": "homes", "events": events}
        return ModelReply(reply, "scripted")

    def _project(self, task: ModelTask[Any]) -> ModelReply:
        self._count(" ".join(one.title for one in task.input.events))
        nodes = []
        for event in task.input.events:
            told = _TOLD.search(event.title)
            assert told is not None
            fact = {
                "key": self.key,
                "value": told[3],
                "mode": "state",
                "sourceEventIds": [event.event_id],
            }
            nodes.append(
                {
                    "ref": told[1],
                    "name": told[1],
                    "type": "person",
                    "metadataProvenance": {"name": [event.event_id]},
                    "sourceEventIds": [event.event_id],
                    "facts": [fact],
                }
            )
        return ModelReply({"reason": "", "nodes": nodes, "edges": []}, "scripted")

    def _count(self, words: str) -> None:
        self.calls += 1
        if self.failing is not None and self.failing in words:
            from shared.domain.jobs import FailureClass  # noqa: PLC0415 - only where it fails

            raise ModelError(FailureClass.PERMANENT, "http_401", "the test says so")
