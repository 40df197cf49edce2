from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from shared.settings import Settings
from shared.store.database import Database, QueueDatabase, owner_engine
from tests.integration.erasure.eraser import Eraser
from tests.integration.reprocess.memory import HOME
from workers.retention import retain


@pytest.fixture
def queue(settings: Settings) -> Iterator[QueueDatabase]:
    opened = QueueDatabase(settings)
    yield opened
    opened.close()


def age(settings: Settings, tenant_id: str, *, turns: int, days: int) -> None:
    """Let the oldest turns of a tenant have been stored so many days ago."""
    engine = owner_engine(settings)
    with engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE turns SET created_at = created_at - make_interval(days => :days) "
                "WHERE tenant_id = :t AND namespace_turn <= :turns"
            ),
            {"t": tenant_id, "days": days, "turns": turns},
        )
    engine.dispose()


def test_turns_beyond_their_retention_are_erased(
    memory: Eraser, settings: Settings, database: Database, queue: QueueDatabase
) -> None:
    retain(queue, database, settings)
    assert memory.sql("SELECT 1 FROM erasures") == []
    memory.client.patch(HOME, json={"retention_days": 30})
    retain(queue, database, settings)
    assert memory.sql("SELECT 1 FROM erasures") == []

    age(settings, memory.tenant_id, turns=3, days=31)
    retain(queue, database, settings)
    retain(queue, database, settings)
    memory.run()

    (erasure,) = memory.sql("SELECT erasure_id, kind, counts FROM erasures")
    assert (erasure.kind, erasure.counts["turns"]) == ("retention", 3)
    assert len(memory.turn_ids()) == 5
    assert memory.found("Oslo") == {"raw": 0, "events": 0, "nodes": 0}
    assert memory.verify(erasure.erasure_id)["valid"]
    assert memory.findings() == []
    log = memory.client.get("/v1/audit-log", params={"action": "erasure_started"}).json()
    assert [one["detail"] for one in log["items"]] == [{"kind": "retention", "days": 30}]
    retain(queue, database, settings)
    assert len(memory.sql("SELECT 1 FROM erasures")) == 1
