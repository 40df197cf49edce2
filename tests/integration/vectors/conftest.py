from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from ingest.routes import router as ingest_router
from retrieval.routes import router as retrieval_router
from shared.clock import FixedClock
from shared.domain.jobs import JobKind
from shared.http.application import build_app
from shared.settings import Settings
from shared.store.database import Database
from tests.support.concept_embedder import ConceptEmbedder
from tests.support.databases import Tenant
from tests.support.embedding_server import DIMENSION, EmbeddingServer
from tests.support.serving import serving
from workers.models.scripted import ScriptedModel
from workers.process import STEPS
from workers.runner import Deps, JobDied, JobRetried, run_job
from workers.steps.embed import embed_step

NS = "project:vectors"


@pytest.fixture(scope="session")
def embeddings() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture(scope="session")
def on(settings: Settings, embeddings: EmbeddingServer) -> Settings:
    """Settings with vectors on, made by the endpoint of the tests."""
    return settings.model_copy(
        update={
            "embeddings_provider": "openai",
            "embeddings_base_url": embeddings.url,
            "embeddings_model": "concepts",
            "embeddings_dimension": DIMENSION,
            "embeddings_batch": 4,
            "embeddings_query_budget_ms": 2_000,
        }
    )


@pytest.fixture(scope="session")
def url(on: Settings) -> Iterator[str]:
    app = build_app(on, "both", [ingest_router, retrieval_router])
    with serving(app) as served:
        yield served


@dataclass
class Vectors:
    """A tenant's namespace over HTTP, and its embed job run in place."""

    http: httpx.Client
    database: Database
    tenant: Tenant
    settings: Settings
    deps: Deps
    _receipts: list[str] = field(default_factory=list)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, path, json=body, headers=self.tenant.headers)
        assert answer.is_success, answer.text
        return answer.json()

    def say(self, *said: str, thread_id: str = "main") -> list[str]:
        """Post one turn of a user's messages and return their ids."""
        self._receipts.append("r")
        body = {
            "receipt_id": f"r{len(self._receipts)}",
            "thread_id": thread_id,
            "occurred_at": "2026-03-01T10:00:00+00:00",
            "messages": [{"role": "user", "content": one} for one in said],
        }
        turn = self.call("POST", f"/v1/namespaces/{NS}/turns", body)
        return self.column(
            "SELECT message_id FROM messages WHERE turn_id = :t ORDER BY position",
            t=turn["turn_id"],
        )

    def search(self, query: str, path: str = "raw", **more: Any) -> Any:
        return self.call("POST", f"/v1/retrieval/{NS}/{path}/search", {"query": query, **more})

    def found(self, query: str) -> list[str]:
        return [hit["message"]["content"] for hit in self.search(query)["items"]]

    def column(self, statement: str, **values: Any) -> list[Any]:
        with self.database.read(self.tenant.tenant_id) as tx:
            return list(tx.connection.execute(text(statement), values).scalars())

    def jobs(self) -> list[Any]:
        """Return the namespace's embed jobs, oldest first."""
        with self.database.read(self.tenant.tenant_id) as tx:
            return list(
                tx.connection.execute(
                    text("SELECT * FROM jobs WHERE kind = 'embed' ORDER BY job_id")
                )
            )

    def run(self, deps: Deps | None = None) -> str:
        """Run the newest embed job once; a failed attempt gives its error's name."""
        job = self.jobs()[-1]
        try:
            return run_job(self.tenant.tenant_id, job.job_id, deps or self.deps)
        except (JobRetried, JobDied) as error:
            return type(error).__name__

    def embed(self) -> str:
        """Run the newest embed job until it ends."""
        state = self.run()
        while state == "snoozed":
            state = self.run()
        return state

    def with_embedder(self, embedder: ConceptEmbedder, **changes: Any) -> Deps:
        return replace(
            self.deps,
            settings=self.settings.model_copy(update=changes),
            steps={JobKind.EMBED: embed_step(lambda _: embedder)},
        )


@pytest.fixture
def vectors(
    url: str, on: Settings, database: Database, tenant: Tenant, embeddings: EmbeddingServer
) -> Iterator[Vectors]:

    deps = Deps(
        database=database,
        model=ScriptedModel({}),
        settings=on,
        clock=FixedClock(datetime.now(UTC)),
        jitter=lambda: 0.0,
        steps=STEPS,
    )
    embeddings.requests.clear()
    with httpx.Client(base_url=url, timeout=30) as http:
        yield Vectors(http, database, tenant, on, deps)
