"""How many SQL statements a job and a turn cost: pinned, so that none creeps in unseen.

Counted are statements that a driver is asked to execute, without BEGIN and COMMIT. A smaller
number is welcome and is entered here; a greater one wants a reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from shared.domain.jobs import JobKind
from shared.settings import Settings
from tests.integration.ingest.serving import served, turn
from tests.integration.ledger.world import Fate, LedgerWorld
from tests.support.databases import Tenant

MOST = {
    JobKind.SUMMARIZE: 7,
    JobKind.EXTRACT: 17,
    JobKind.PROJECT: 24,
}
MOST_A_TURN = 14
MOST_A_SEALING_TURN = 22


@contextmanager
def counted() -> Iterator[list[str]]:
    """Count at the driver: some statements go past SQLAlchemy."""
    statements: list[str] = []
    execute = psycopg.Cursor.execute

    def noted(self: psycopg.Cursor[Any], query: Any, *args: Any, **named: Any) -> Any:
        statements.append(" ".join(str(query).split())[:100])
        return execute(self, query, *args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", noted)
        yield statements


def test_a_job_of_each_kind_keeps_to_its_statements(ledger_world: LedgerWorld) -> None:
    world = ledger_world
    for _ in range(4):  # the second block meets the first one's events and nodes
        world.say("main")
    seen: dict[JobKind, list[str]] = {}
    for kind in MOST:
        for job in world.rows("SELECT job_id FROM jobs WHERE kind = :kind", kind=kind.value):
            with counted() as statements:
                ended = world.deliver(("", world.tenant_id, job.job_id), Fate.WELL)
            assert ended == "succeeded"
            if len(statements) > len(seen.get(kind, [])):
                seen[kind] = statements
    over = {kind: seen[kind] for kind in MOST if len(seen[kind]) > MOST[kind]}
    assert not over, {kind: (len(lines), lines) for kind, lines in over.items()}


def test_a_second_delivery_costs_two_statements(ledger_world: LedgerWorld) -> None:
    world = ledger_world
    for _ in range(2):
        world.say("main")
    [job] = world.rows("SELECT job_id FROM jobs")
    bell = ("", world.tenant_id, job.job_id)
    world.deliver(bell, Fate.WELL)
    with counted() as statements:
        assert world.deliver(bell, Fate.WELL) == "duplicate_delivery"
    assert len(statements) == 2


@pytest.mark.parametrize(
    ("turns", "most"), [(1, MOST_A_SEALING_TURN), (2, MOST_A_TURN)], ids=["sealing", "open"]
)
def test_a_turn_keeps_to_its_statements(
    settings: Settings, tenant: Tenant, turns: int, most: int
) -> None:
    small = settings.model_copy(update={"block_turn_size": 2})
    with (
        served(small) as url,
        httpx.Client(base_url=url, headers=tenant.headers) as api,
    ):
        path = "/v1/namespaces/counted/turns"
        for number in range(turns + 1):  # what comes first also begins namespace and thread
            with counted() as statements:
                assert api.post(path, json=turn(f"r{number}")).status_code == 201
            if number == turns:
                break
    assert 0 < len(statements) <= most, (len(statements), statements)
