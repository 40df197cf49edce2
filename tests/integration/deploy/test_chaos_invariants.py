"""What a broken promise looks like is planted by hand, so that each check is seen to find it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import psycopg
import pytest

from deploy.chaos.ground import Ground
from deploy.chaos.invariants import AFTER_FAULTS, AFTER_RETRY, Invariant, World
from deploy.chaos.traffic import Accepted
from ingest.routes import router as ingest_router
from retrieval.routes import router as retrieval_router
from shared.http.application import build_app
from shared.store.database import Database
from tests.support.databases import (
    Tenant,
    clone_database,
    drop_database,
    new_tenant,
    settings_for,
)
from tests.support.serving import serving

NAMESPACE, THREAD = "project:planted", "shared"
CHECKS = {one.name: one for one in (*AFTER_FAULTS, *AFTER_RETRY)}


@dataclass(frozen=True)
class Planting:
    """A world of three turns, the first of them a sealed block whose jobs are over."""

    world: World
    url: str

    def change(self, *statements: str) -> None:
        """Change the database past every wall."""
        with psycopg.connect(self.url, autocommit=True) as link:
            for statement in statements:
                link.execute(statement.encode())

    def found(self, name: str) -> list[str]:
        """Return what a check finds."""
        return CHECKS[name].check(self.world)


@dataclass(frozen=True)
class Planted:
    """A database with three turns in it, to be copied, and what was promised of them."""

    url: str
    tenant: Tenant
    accepted: tuple[Accepted, ...]


@pytest.fixture(scope="module")
def planted_once() -> Iterator[Planted]:
    url = clone_database()
    settings = settings_for(url)
    database = Database(settings)
    tenant = new_tenant(settings, database)
    database.close()
    with _serving(url, tenant) as api:
        accepted = tuple(_post(api))
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(
            "UPDATE jobs SET state = 'dead', attempt = 3, reason = 'http_503', "
            """errors = '[{"code": "http_503"}]', finalized_at = now()"""
        )
    yield Planted(url, tenant, accepted)
    drop_database(url)


@pytest.fixture
def planting(planted_once: Planted) -> Iterator[Planting]:
    """A copy of the test's own, to plant something in."""
    yield from _copied(planted_once)


@pytest.fixture(scope="module")
def clean(planted_once: Planted) -> Iterator[Planting]:
    """A copy for tests that only look."""
    yield from _copied(planted_once)


def _copied(planted: Planted) -> Iterator[Planting]:
    url = clone_database(of=planted.url)
    ground = Ground(url)
    with _serving(url, planted.tenant) as api:
        yield Planting(World(ground, api, url, list(planted.accepted), []), url)
    ground.close()
    drop_database(url)


@contextmanager
def _serving(url: str, tenant: Tenant) -> Iterator[httpx.Client]:
    app = build_app(settings_for(url), "both", [ingest_router, retrieval_router])
    with (
        serving(app) as home,
        httpx.Client(base_url=home, headers=tenant.headers, timeout=30) as api,
    ):
        yield api


def _post(api: httpx.Client) -> list[Accepted]:
    accepted = []
    for number in range(3):
        content = f"Crate {number} goes to hall {number}."
        body = {
            "thread_id": THREAD,
            "receipt_id": f"planted-{number}",
            "messages": [{"role": "user", "content": content}],
        }
        answer = api.post(f"/v1/namespaces/{NAMESPACE}/turns", json=body).raise_for_status()
        turn_id = answer.json()["turn_id"]
        accepted.append(Accepted(NAMESPACE, THREAD, body["receipt_id"], turn_id, content))
        if not number:
            sealed = api.post(f"/v1/namespaces/{NAMESPACE}/threads/{THREAD}/seal")
            sealed.raise_for_status()
    return accepted


CLEAN = [one for one in AFTER_FAULTS if one.name != "verify_clean"]


@pytest.mark.parametrize("one", CLEAN, ids=[one.name for one in CLEAN])
def test_nothing_is_found_where_nothing_was_planted(clean: Planting, one: Invariant) -> None:
    assert one.check(clean.world) == []


def test_a_turn_that_was_accepted_and_is_not_stored_is_found(planting: Planting) -> None:
    planting.world.accepted.append(Accepted(NAMESPACE, THREAD, "lost", "trn_lost", "Lost."))
    assert planting.found("turns_kept") == ["lost in project:planted is stored as []"]


PLANTED = [
    ("turns_kept", "DELETE FROM messages; DELETE FROM turns", "planted-2"),
    ("turns_kept", "UPDATE messages SET content = 'Other words.'", "Other words."),
    ("turns_kept", "UPDATE turns SET receipt_id = 'unasked' WHERE sequence = 2", "unasked"),
    (
        "nothing_missing",
        "UPDATE threads SET sealed_turn_count = 2",
        "3 messages said, 2 in context",
    ),
    (
        "effects_once",
        "CREATE TEMP TABLE twin AS SELECT * FROM blocks; UPDATE twin SET block_id = 'blk_twin', "
        "sequence = 9, start_turn = 0 + end_turn, end_turn = 9; "
        "ALTER TABLE blocks DROP CONSTRAINT "
        "uq_blocks_tenant_id_namespace_thread_id_start_turn; "
        "INSERT INTO blocks SELECT * FROM twin",
        "turns in two blocks",
    ),
    (
        "effects_once",
        "DROP INDEX uq_jobs_live_subject; UPDATE jobs SET state = 'retryable', finalized_at = NULL;"
        "CREATE TEMP TABLE twin AS SELECT * FROM jobs; UPDATE twin SET job_id = 'job_twin';"
        "INSERT INTO jobs SELECT * FROM twin",
        "live jobs of one piece of work",
    ),
    (
        "jobs_end",
        "UPDATE jobs SET state = 'retryable', finalized_at = NULL",
        "is still retryable",
    ),
    ("jobs_end", "UPDATE jobs SET finalized_at = created_at + interval '1 day'", "took 86400 s"),
    ("failures_told", "UPDATE jobs SET reason = NULL", "is dead without a reason"),
    ("failures_told", "UPDATE jobs SET errors = '[]'", "is dead without a reason"),
    ("failures_told", "DELETE FROM jobs", "no job of it is live"),
    ("all_derived", "SELECT 1", "1 jobs are dead"),
    ("verify_clean", "DELETE FROM search_postings; DELETE FROM search_documents", "msg_"),
]


@pytest.mark.parametrize(("name", "planted", "told"), PLANTED)
def test_what_was_planted_is_found(planting: Planting, name: str, planted: str, told: str) -> None:
    # Foreign keys keep much of this from happening at all; as a replica they look away.
    planting.change("SET session_replication_role = replica; " + planted)
    assert any(told in line for line in planting.found(name)), planting.found(name)


def test_every_promise_has_something_planted_against_it() -> None:
    checks = {CHECKS[name].check for name, _, _ in PLANTED}
    assert {one.check for one in CHECKS.values()} == checks
