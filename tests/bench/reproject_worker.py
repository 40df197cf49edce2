"""A plain worker of the re-projection benchmark: runs due jobs of some queues, one at a time.

Run `python -m tests.bench.reproject_worker DATABASE_URL TENANT QUEUE[,QUEUE…]`. The ledger is asked
directly, without broker and relay, so that it measures jobs and not rings.
"""

from __future__ import annotations

import re
import sys
import time
from typing import Any

from sqlalchemy import ARRAY, Text, bindparam, text

from shared.clock import SystemClock
from shared.settings import Settings
from shared.store.database import Database
from tests.support.databases import settings_for
from workers.give_way import give_way
from workers.models.port import ModelReply, ModelTask, Usage
from workers.models.scripted import ScriptedModel
from workers.process import STEPS
from workers.runner import Deps, JobDied, JobRetried, run_job

LEASE_S = 3.0
_TOLD = re.compile(r"(\w+) lives in (\w+)")
_PAUSE_S = 0.02
_DUE = text(
    """
    SELECT job_id FROM jobs WHERE tenant_id = :tenant_id AND queue = ANY(:queues)
      AND state IN ('available', 'retryable') AND scheduled_at <= now()
    ORDER BY priority DESC, scheduled_at, job_id LIMIT 20
    """
).bindparams(bindparam("queues", type_=ARRAY(Text)))


def bench_settings(url: str) -> Settings:
    """Return settings on a database, with a short lease: a killed worker is soon replaced."""
    return settings_for(url, lease_s=LEASE_S, block_turn_size=12)


def main() -> None:
    url, tenant_id, queues = sys.argv[1:4]
    give_way(queues.split(","))
    settings = bench_settings(url)
    database = Database(settings)
    deps = Deps(
        database=database,
        model=ScriptedModel(behaviours=dict.fromkeys(("summarize", "extract", "project"), answer)),
        settings=settings,
        clock=SystemClock(),
        jitter=lambda: 0.0,
        steps=STEPS,
    )
    while True:
        with database.read(tenant_id) as tx:
            values = {"tenant_id": tenant_id, "queues": queues.split(",")}
            due = list(tx.connection.execute(_DUE, values).scalars())
        for job_id in due:
            try:
                run_job(tenant_id, job_id, deps)
            except (JobRetried, JobDied):
                continue
        if not due:
            time.sleep(_PAUSE_S)


def answer(task: ModelTask[Any]) -> ModelReply:
    """Reply at once with one event a message, or one person and home an event."""
    if task.kind.value == "project":
        nodes = [_node(event) for event in task.input.events]
        return _reply({"reason": "", "nodes": nodes, "edges": []})
    said = [one for one in task.input.messages if one.role == "user"]
    if task.kind.value == "extract":
        events = [_event(one) for one in said]
        return _reply({"shouldExtract": True, "reason": "homes", "events": events})
    return _reply(
        {
            "title": "Where people live",
            "tags": ["homes"],
            "summary": said[0].content,
            "keypoints": [one.content for one in said[:6]],
            "shouldExtract": True,
        }
    )


def _reply(content: dict[str, Any]) -> ModelReply:
    return ModelReply(content, "bench", Usage(900, 200))


def _event(message: Any) -> dict[str, Any]:
    return {
        "title": message.content,
        "summary": message.content,
        "sourceMessageIds": [message.id],
        "scope": "user",
        "criticality": "routine",
        "tags": ["homes"],
        "quotes": [],
        "temporal": {"eventType": "other", "participants": []},
    }


def _node(event: Any) -> dict[str, Any]:
    told = _TOLD.search(event.title)
    assert told is not None
    fact = {"key": "home", "value": told[2], "mode": "state", "sourceEventIds": [event.event_id]}
    return {
        "ref": event.event_id,
        "name": told[1],
        "type": "person",
        "metadataProvenance": {"name": [event.event_id]},
        "sourceEventIds": [event.event_id],
        "facts": [fact],
    }


if __name__ == "__main__":
    main()
