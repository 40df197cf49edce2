"""What holds of the ledger and of what jobs made, whatever happened in whatever order."""

from __future__ import annotations

from collections import Counter

from retrieval.reader import Reader
from retrieval.recall import recall_context
from retrieval.schemas import ContextRequest
from shared.domain.jobs import (
    FINAL_STATES,
    LIVE_STATES,
    MAX_CALLS_A_PART,
    RETRYABLE_BY_HAND,
    JobState,
)
from shared.store.namespaces import get_namespace, policy_defaults
from tests.integration.ledger.world import LATE, NAMESPACE, THREADS, LedgerWorld

_EFFECTS = """
    SELECT b.block_id, s.status, s.anchor_position, b.thread_id, b.start_turn, b.end_turn,
           (SELECT count(*) FROM block_summaries AS x WHERE x.block_id = b.block_id) AS summaries,
           (SELECT count(*) FROM events AS e WHERE e.block_id = b.block_id) AS events
    FROM blocks AS b JOIN block_states AS s USING (tenant_id, block_id)
    ORDER BY b.thread_id, b.start_turn
"""


def check(world: LedgerWorld) -> None:
    """Assert every invariant."""
    jobs = world.rows("SELECT * FROM jobs ORDER BY job_id")
    _rows_are_possible(jobs)
    _work_is_live_once(jobs)
    _calls_are_bounded(world, jobs)
    blocks = world.rows(_EFFECTS)
    _effects_are_single(world, blocks)
    _nothing_late_is_stored(world)
    _unready_blocks_can_be_helped(jobs, blocks)
    _counters_are_right(world, blocks)
    _nothing_said_is_missing(world)


def _rows_are_possible(jobs: list) -> None:
    for job in jobs:
        state = JobState(job.state)
        assert (state is JobState.RUNNING) == (job.lease_token is not None), job
        assert (state in FINAL_STATES) == (job.finalized_at is not None), job
        assert 0 <= job.attempt <= job.max_attempts, job
        if state is JobState.DEAD:
            assert job.errors, f"dead without a reason: {job}"
            assert job.reason in {job.errors[-1]["code"], "lease_expired"}, job
        if state is JobState.RETRYABLE:
            assert job.errors[-1]["attempt"] == job.attempt, job
        if state in RETRYABLE_BY_HAND:
            assert job.reason, f"ended without a reason: {job}"
        assert all({"attempt", "class", "code", "detail", "at"} <= set(one) for one in job.errors)


def _work_is_live_once(jobs: list) -> None:
    live = Counter((one.kind, one.subject) for one in jobs if JobState(one.state) in LIVE_STATES)
    assert all(number == 1 for number in live.values()), live


def _calls_are_bounded(world: LedgerWorld, jobs: list) -> None:
    calls = world.rows(
        "SELECT job_id, count(*) AS n FROM model_calls "
        "WHERE input_tokens + output_tokens > 0 GROUP BY job_id"
    )
    rounds = {one.job_id: world.retried.get(one.job_id, 0) + 1 for one in jobs}
    for call in calls:
        # A worker that was overtaken had its call under way.
        most = MAX_CALLS_A_PART * rounds[call.job_id] + world.overtaken.get(call.job_id, 0)
        assert call.n <= most, call


def _effects_are_single(world: LedgerWorld, blocks: list) -> None:
    for block in blocks:
        assert block.summaries <= 1, block
        assert block.events <= 1, block
        if block.status == "ready":
            assert block.summaries == 1, block
    nodes = world.rows("SELECT name, count(*) AS n FROM nodes GROUP BY name")
    assert all(node.n == 1 for node in nodes), nodes
    assert len(nodes) <= sum(block.events for block in blocks)


def _nothing_late_is_stored(world: LedgerWorld) -> None:
    """Of an attempt that had lost its job before it ended, no word is left."""
    late = world.rows(
        "SELECT title FROM block_summaries WHERE title LIKE :late "
        "UNION ALL SELECT title FROM events WHERE title LIKE :late "
        "UNION ALL SELECT name FROM nodes WHERE CAST(nodes AS TEXT) LIKE :late",
        late=f"%{LATE.strip()}%",
    )
    assert late == []


def _unready_blocks_can_be_helped(jobs: list, blocks: list) -> None:
    helpful = RETRYABLE_BY_HAND | LIVE_STATES
    by_subject: dict[str, set[JobState]] = {}
    for job in jobs:
        by_subject.setdefault(job.subject, set()).add(JobState(job.state))
    for block in blocks:
        if block.status != "ready":
            assert by_subject[block.block_id] & helpful, block


def _counters_are_right(world: LedgerWorld, blocks: list) -> None:
    [namespace] = world.rows("SELECT turn_count, block_count FROM namespaces")
    assert namespace.turn_count == sum(map(len, world.said.values()))
    assert namespace.block_count == len(blocks)
    for thread in world.rows("SELECT * FROM threads"):
        own = [block for block in blocks if block.thread_id == thread.thread_id]
        ready = [block for block in own if block.status == "ready"]
        assert thread.turn_count == len(world.said[thread.thread_id])
        assert thread.sealed_turn_count == sum(b.end_turn - b.start_turn + 1 for b in own)
        assert (thread.block_count, thread.ready_count) == (len(own), len(ready))
        places = sorted(block.anchor_position for block in ready)
        assert places == list(range(1, len(ready) + 1))


def _nothing_said_is_missing(world: LedgerWorld) -> None:
    for thread_id in THREADS:
        with world.database.read(world.tenant_id) as tx:
            namespace = get_namespace(tx, NAMESPACE, defaults=policy_defaults(world.settings))
            reader = Reader(namespace, "key", world.clock.now(), 60, thread_id=thread_id)
            context = recall_context(tx, reader, ContextRequest(thread_id=thread_id))
        covered = [one for block in context.blocks for one in block.message_ids]
        covered += [one.message_id for one in context.open_tail]
        said = world.rows(
            "SELECT m.message_id, m.content FROM messages AS m JOIN turns AS t "
            "USING (tenant_id, turn_id) WHERE t.thread_id = :thread ORDER BY t.sequence",
            thread=thread_id,
        )
        assert [one.content for one in said] == world.said[thread_id]
        assert covered == [one.message_id for one in said]
        for block in context.blocks:
            if block.status != "ready":
                assert block.messages is not None
                assert [one.message_id for one in block.messages] == block.message_ids
