from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from sqlalchemy import text

from ingest.schemas.turns import TurnIn
from ingest.turns import commit_turn, prepare_turn
from shared.clock import FixedClock
from shared.domain.jobs import JobKind
from shared.settings import Settings
from shared.store.blocks import BlockRow, list_blocks
from shared.store.database import Database
from shared.store.events import StoredEvent, events_of_blocks
from shared.store.messages import turns_range
from shared.store.namespaces import ensure_namespace, save_policy
from tests.support.databases import Tenant, new_tenant
from workers.models.port import ModelReply, ModelTask
from workers.models.scripted import ScriptedModel
from workers.process import STEPS
from workers.runner import Deps, JobDied, JobRetried, run_job

NAMESPACE = "project:demo"
SUMMARY = {
    "title": "A dog called Rex",
    "tags": ["pets"],
    "summary": "Ann told of her dog Rex.",
    "keypoints": ["Ann has a dog called Rex."],
    "shouldExtract": True,
}
NOTHING = {"shouldExtract": False, "reason": "only greetings", "events": []}


def reply(content: Mapping[str, Any] | str, **extra: Any) -> ModelReply:
    return ModelReply(content, "scripted", **extra)


@dataclass
class World:
    """One tenant's namespace, its scripted model, and the ways to drive its jobs."""

    settings: Settings
    database: Database
    tenant_id: str
    clock: FixedClock
    model: ScriptedModel
    rung: list[tuple[str, str, str]] = field(default_factory=list)
    deps: Deps = field(init=False)

    def __post_init__(self) -> None:
        self.deps = Deps(
            database=self.database,
            model=self.model,
            settings=self.settings,
            clock=self.clock,
            jitter=lambda: 0.0,
            steps=STEPS,
            ring=self._ring,
        )

    def _ring(self, queue: str, tenant_id: str, job_id: str) -> bool:
        self.rung.append((queue, tenant_id, job_id))
        return True

    def script(self, **behaviours: Callable[[ModelTask[Any]], ModelReply]) -> None:
        self.model.behaviours = {**self.model.behaviours, **behaviours}

    def policy(self, **overrides: Any) -> None:
        with self.database.write(self.tenant_id) as tx:
            ensure_namespace(tx, NAMESPACE)
            save_policy(tx, NAMESPACE, overrides)

    def say(self, *pairs: tuple[str, str], thread_id: str = "main") -> BlockRow:
        """Post turns of a user's and the assistant's words, which seal into one block."""
        settings = self.settings.model_copy(update={"block_turn_size": len(pairs)})
        with self.database.write(self.tenant_id) as tx:
            for user, assistant in pairs:
                body = TurnIn.model_validate(
                    {
                        "thread_id": thread_id,
                        "receipt_id": f"{thread_id}-{len(self.rung)}-{user[:80]}",
                        "occurred_at": "2026-03-01T10:00:00+02:00",
                        "messages": [
                            {"role": "user", "content": user},
                            {"role": "assistant", "content": assistant},
                        ],
                    }
                )
                commit_turn(tx, NAMESPACE, prepare_turn(body, self.clock.now()), settings=settings)
        return self.blocks()[-1]

    def blocks(self) -> list[BlockRow]:
        with self.database.read(self.tenant_id) as tx:
            return list_blocks(tx, NAMESPACE)

    def block(self, block_id: str) -> BlockRow:
        return next(one for one in self.blocks() if one.block_id == block_id)

    def message_ids(self, block: BlockRow) -> list[str]:
        with self.database.read(self.tenant_id) as tx:
            stored = turns_range(
                tx, NAMESPACE, block.thread_id, first=block.start_turn, last=block.end_turn
            )
        return [one.message.id for one in stored]

    def job(self, block: BlockRow, kind: JobKind) -> Any:
        with self.database.read(self.tenant_id) as tx:
            newest = text(
                "SELECT * FROM jobs WHERE subject = :subject AND kind = :kind "
                "ORDER BY job_id DESC LIMIT 1"
            )
            values = {"subject": block.block_id, "kind": kind.value}
            return tx.connection.execute(newest, values).one_or_none()

    def events(self, block: BlockRow) -> list[StoredEvent]:
        with self.database.read(self.tenant_id) as tx:
            return events_of_blocks(tx, [block.block_id], version=1).get(block.block_id, [])

    def run(self, block: BlockRow, kind: JobKind, *, deps: Deps | None = None) -> str:
        """Run the block's newest job of a kind once; a failed attempt gives its error's name."""
        job = self.job(block, kind)
        try:
            return run_job(self.tenant_id, job.job_id, deps or self.deps)
        except (JobRetried, JobDied) as error:
            return type(error).__name__

    def run_until_final(self, block: BlockRow, kind: JobKind) -> list[str]:
        """Run a job as often as it is retried; its schedule is moved up instead of awaited."""
        states = [self.run(block, kind)]
        while states[-1] == "JobRetried":
            self.hurry(block, kind)
            states.append(self.run(block, kind))
        return states

    def hurry(self, block: BlockRow, kind: JobKind) -> None:
        with self.database.write(self.tenant_id) as tx:
            tx.connection.execute(
                text("UPDATE jobs SET scheduled_at = now() WHERE subject = :s AND kind = :k"),
                {"s": block.block_id, "k": kind.value},
            )

    def with_settings(self, **changes: Any) -> Deps:
        return replace(self.deps, settings=self.settings.model_copy(update=changes))


@pytest.fixture
def world(settings: Settings, tenant: Tenant, clock: FixedClock) -> Iterator[World]:
    with _world(settings, tenant, clock) as made:
        yield made


@pytest.fixture
def own_world(own_settings: Settings, own_database: Database, clock: FixedClock) -> Iterator[World]:
    """A world on a database of its own."""
    with _world(own_settings, new_tenant(own_settings, own_database), clock) as made:
        yield made


@contextmanager
def _world(settings: Settings, tenant: Tenant, clock: FixedClock) -> Iterator[World]:
    database = Database(settings, plans_once=True)
    made = World(settings, database, tenant.tenant_id, clock, ScriptedModel())
    made.script(summarize=lambda _task: reply(SUMMARY), extract=lambda _task: reply(NOTHING))
    yield made
    database.close()


def event_reply(message_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "title": "Ann has a dog called Rex",
        "summary": "Ann has a dog called Rex.",
        "sourceMessageIds": [message_id],
        "scope": "user",
        "criticality": "routine",
        "tags": ["pets"],
        "quotes": [],
        "temporal": {"eventType": "other", "participants": ["Ann"]},
        **changes,
    }


def extraction(*events: dict[str, Any]) -> dict[str, Any]:
    return {"shouldExtract": True, "reason": "a fact", "events": list(events)}
