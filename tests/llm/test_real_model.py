"""A real, small model walks one namespace of 12 turns; what it makes is valid and grounded."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import text

from shared.clock import FixedClock
from shared.domain.events import EventType
from shared.domain.jobs import JobKind
from shared.settings import Settings
from shared.store.blocks import BlockRow, summaries_of
from shared.store.database import Database
from shared.store.events import StoredEvent
from shared.store.messages import turns_range
from tests.integration.workers.conftest import NAMESPACE, World
from tests.llm.local_model import LocalModel
from tests.support.databases import Tenant
from workers.models.endpoints import ENDPOINTS
from workers.models.registry import build_model
from workers.models.scripted import ScriptedModel

# The test's own limit is the sum of all calls on a busy machine.
pytestmark = [pytest.mark.llm, pytest.mark.timeout(18_000)]

TALK = (
    ("Hi, I am Marta. I run a small bakery in Porto.", "Nice to meet you, Marta."),
    ("We open at seven and close at two.", "Good to know."),
    ("I am allergic to hazelnuts, so none of our cakes has any.", "I will keep that in mind."),
    ("My brother Tiago joined the bakery on 3 February 2026.", "Congratulations to both."),
    ("He takes care of the deliveries with an old van.", "A van can be hard to keep running."),
    ("It broke down twice last week.", "That sounds expensive."),
    ("So we decided to lease an electric van from Rota Verde.", "A sensible step."),
    ("The contract starts on 1 April 2026 and costs 310 euros a month.", "Noted."),
    ("I prefer to get the accounts as plain tables, no charts.", "Plain tables it is."),
    ("Please always write prices with two decimals.", "I will."),
    ("We plan to open a second shop in Braga in September 2026.", "Good luck with the plan."),
    ("Thanks, that is all for today.", "Until next time."),
)
KINDS = (JobKind.SUMMARIZE, JobKind.EXTRACT, JobKind.PROJECT)

_GRAPH = text(
    """
    SELECT 'node' AS what, n.type || ' ' || n.name AS said,
           (SELECT count(*) FROM node_sources AS s WHERE s.node_id = n.node_id) AS sources
    FROM nodes AS n
    UNION ALL
    SELECT 'fact', n.name || ' ' || f.key || ' = ' || f.value::text,
           (SELECT count(*) FROM fact_sources AS s WHERE s.fact_id = f.fact_id)
    FROM facts AS f JOIN nodes AS n USING (node_id)
    UNION ALL
    SELECT 'edge', a.name || ' ' || e.relation || ' ' || b.name,
           (SELECT count(*) FROM edge_sources AS s WHERE s.edge_id = e.edge_id)
    FROM edges AS e JOIN nodes AS a ON a.node_id = e.from_node_id
    JOIN nodes AS b ON b.node_id = e.to_node_id
    """
)


@dataclass(frozen=True)
class Walked:
    """The namespace after its walk."""

    world: World
    block: BlockRow
    ends: dict[str, list[str]]


@pytest.fixture
def walked(
    settings: Settings,
    tenant: Tenant,
    clock: FixedClock,
    local_model: LocalModel,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Walked]:
    # One thread of a shared machine is slower than any provider: only here the ceilings give way.
    monkeypatch.setattr("workers.attempt.ceiling_s", lambda _kind, most_s, **_: most_s)
    ENDPOINTS.forget()
    changed = settings.model_copy(
        update={
            "model_provider": "openai",
            "model_name": local_model.name,
            "model_base_url": local_model.url,
            "model_deadline_s": 3_600.0,
            "step_deadline_s": 5_000.0,
            "hard_limit_s": 5_400.0,
            "model_input_tokens": 4_000,
            "model_max_output_tokens": 3_000,
        }
    )
    database = Database(changed)
    world = World(changed, database, tenant.tenant_id, clock, ScriptedModel())
    world.deps = replace(world.deps, model=build_model(changed))
    block = world.say(*TALK)
    ends = {
        kind.value: world.run_until_final(block, kind) for kind in KINDS if world.job(block, kind)
    }
    yield Walked(world, block, ends)
    database.close()


def test_twelve_turns_become_valid_and_grounded_events(
    walked: Walked, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        _tell(walked)
    world, block = walked.world, walked.block
    assert walked.ends["summarize"][-1] == "succeeded"
    assert walked.ends["extract"][-1] in ("succeeded", "degraded")
    assert walked.ends["project"][-1] in ("succeeded", "degraded", "succeeded_empty")
    assert world.block(block.block_id).status == "ready"
    events = world.events(block)
    assert events
    said = _said(world, block)
    for event in events:
        _holds(event, said)
    assert all(row.sources for row in _graph(world))


def _holds(event: StoredEvent, said: dict[str, str]) -> None:
    """An event cites this block alone, quotes it verbatim, and has no time that nobody told."""
    assert event.title.strip()
    assert event.summary.strip()
    assert event.event_type in EventType
    assert event.source_message_ids
    assert set(event.source_message_ids) <= said.keys()
    for quote in event.quotes:
        assert _folded(quote.text) in _folded(said[quote.message_id])
    cited = " ".join(said[one] for one in event.source_message_ids)
    if event.happened_start is not None:
        assert event.original_text
        assert _folded(event.original_text) in _folded(cited)
    grounds = {word for word in _folded(cited).split() if len(word) > 3}
    assert event.quotes or grounds & set(_folded(f"{event.title} {event.summary}").split())


def _folded(words: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", words).casefold().split())


def _said(world: World, block: BlockRow) -> dict[str, str]:
    with world.database.read(world.tenant_id) as tx:
        stored = turns_range(
            tx, NAMESPACE, block.thread_id, first=block.start_turn, last=block.end_turn
        )
    return {one.message.id: one.message.content for one in stored}


def _tell(walked: Walked) -> None:
    """Print what the model made and cost, for the page that shows the numbers."""
    world, block = walked.world, walked.block
    for kind in KINDS:
        job = world.job(block, kind)
        print(f"\n{kind.value}: {walked.ends.get(kind.value)} {job and job.reason}")  # noqa: T201
        for call in _calls(world, job.job_id) if job else ():
            print(  # noqa: T201
                f"  call {call.attempt}.{call.call} {call.outcome}: {call.input_tokens} in, "
                f"{call.output_tokens} out, {call.duration_ms / 1000:.1f} s"
            )
            if call.outcome != "ok" or kind is JobKind.PROJECT:
                print(f"    {call.detail}")  # noqa: T201
        if job:
            print(f"  result: {job.result}")  # noqa: T201
        for one in (job.rejections or ()) if job else ():
            print(f"  rejected: {one}")  # noqa: T201
    with world.database.read(world.tenant_id) as tx:
        print(summaries_of(tx, [block.block_id], version=1).get(block.block_id))  # noqa: T201
    for event in world.events(block):
        print(f"- {event.title} | {event.summary} | {event.happened_start} {event.precision}")  # noqa: T201
    for row in _graph(world):
        print(f"* {row.what}: {row.said} | rests on {row.sources} events")  # noqa: T201


def _calls(world: World, job_id: str) -> list[Any]:
    statement = text("SELECT * FROM model_calls WHERE job_id = :j ORDER BY attempt, call")
    with world.database.read(world.tenant_id) as tx:
        return list(tx.connection.execute(statement, {"j": job_id}))


def _graph(world: World) -> list[Any]:
    """Return what the graph says, a row a node, fact and edge, with how many events tell it."""
    with world.database.read(world.tenant_id) as tx:
        return list(tx.connection.execute(_GRAPH))
