"""A namespace whose jobs ask the real adapter, and the server that plays its provider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from shared.clock import FixedClock
from shared.domain.jobs import JobKind
from shared.settings import Settings
from shared.store.blocks import BlockRow
from shared.store.database import Database
from tests.integration.workers.conftest import World
from tests.support.databases import Tenant
from tests.support.fault_server import FaultServer
from workers.models.endpoints import ENDPOINTS
from workers.models.registry import build_model
from workers.models.scripted import ScriptedModel

KEY = "sk-live-0123456789abcdefghij"
DOG = ("I am Ann and I have a dog called Rex.", "What a good name for a dog.")


@dataclass
class Clinic:
    """One namespace and one provider whose faults are chosen by the model's name."""

    world: World
    server: FaultServer
    settings: Settings

    def ask(self, **changes: Any) -> None:
        """Let jobs ask the provider under changed settings, by a freshly built model."""
        settings = self.settings.model_copy(update=changes)
        self.world.deps = replace(
            self.world.deps,
            settings=settings,
            model=build_model(settings),
            model_of=lambda provider, name: build_model(settings, provider=provider, name=name),
        )

    def block_to(self, kind: JobKind, *pairs: tuple[str, str]) -> BlockRow:
        """Return a sealed block, walked well up to a kind of job."""
        block = self.world.say(*(pairs or (DOG,)))
        for earlier in (JobKind.SUMMARIZE, JobKind.EXTRACT, JobKind.PROJECT):
            if earlier is kind:
                break
            assert self.world.run(block, earlier) == "succeeded"
        return block

    def calls(self, block: BlockRow, kind: JobKind) -> list[Any]:
        """Return the ledger's rows of the job's calls, in order."""
        statement = text("SELECT * FROM model_calls WHERE job_id = :j ORDER BY attempt, call")
        job_id = self.world.job(block, kind).job_id
        with self.world.database.read(self.world.tenant_id) as tx:
            return list(tx.connection.execute(statement, {"j": job_id}))

    def due_in_s(self, block: BlockRow, kind: JobKind) -> float:
        """Return the seconds until the job is due."""
        job_id = self.world.job(block, kind).job_id
        statement = text(
            "SELECT extract(epoch FROM scheduled_at - now()) FROM jobs WHERE job_id=:j"
        )
        with self.world.database.read(self.world.tenant_id) as tx:
            return float(tx.connection.execute(statement, {"j": job_id}).scalar_one())


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    with FaultServer() as started:
        yield started


@pytest.fixture
def clinic(
    settings: Settings, tenant: Tenant, clock: FixedClock, server: FaultServer
) -> Iterator[Clinic]:
    ENDPOINTS.forget()
    server.script.clear()
    database = Database(settings)
    changed = settings.model_copy(
        update={
            "model_provider": "openai",
            "model_name": "good",
            "model_base_url": server.url,
            "model_api_key": SecretStr(KEY),
            "model_deadline_s": 20.0,
            "model_breaker_failures": 50,
        }
    )
    world = World(changed, database, tenant.tenant_id, clock, ScriptedModel())
    made = Clinic(world, server, changed)
    made.ask()
    yield made
    database.close()
    ENDPOINTS.forget()
