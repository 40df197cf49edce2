"""Replies and refusals that lost, stuck or cost elsewhere, by the ids of the handed cases."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from shared.clock import FixedClock
from shared.domain.jobs import JobKind
from shared.metrics import JOBS_FINISHED
from tests.integration.models.conftest import Clinic
from workers.models.openai_http import OpenAIModel

CUT = (
    '{"shouldExtract":true,"reason":"plan","events":[{"title":"Greenhouse heater chosen",'
    '"summary":"The team picked the 2 kW hea'
)
NOTEBOOKS = (
    "Lab notebooks move to plain text files, and backups at noon every day.",
    "Noted: plain text files, backups at noon.",
)


def _answering(clinic: Clinic, *contents: str, finish: str = "stop", **usage: int) -> list[Any]:
    """Let the extract model answer these in turn, the last one for good; gives the requests."""
    requests: list[Any] = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(json.loads(request.content))
        content = contents[min(len(requests), len(contents)) - 1]
        message = {"message": {"content": content}, "finish_reason": finish}
        return httpx.Response(200, json={"choices": [message], "usage": usage})

    _through(clinic, handler)
    return requests


def _through(clinic: Clinic, handler: Any, **changes: Any) -> None:
    model = OpenAIModel(
        "http://models.test/v1", "m", transport=httpx.MockTransport(handler), **changes
    )
    clinic.world.deps = replace(clinic.world.deps, model=model)


def _finished(kind: str, state: str) -> float:
    return float(JOBS_FINISHED.labels(kind, state)._value.get())


def test_lost_02_a_reply_that_was_cut_off_is_no_empty_one(clinic: Clinic) -> None:
    block = clinic.block_to(JobKind.EXTRACT)
    requests = _answering(clinic, CUT, finish="length", prompt_tokens=900, completion_tokens=64)

    ends = clinic.world.run_until_final(block, JobKind.EXTRACT)

    job = clinic.world.job(block, JobKind.EXTRACT)
    assert ends == ["JobRetried", "JobRetried", "JobDied"]
    assert (job.state, job.reason) == ("dead", "output_truncated")
    assert {one["code"] for one in job.errors} == {"output_truncated"}
    assert [one["max_tokens"] for one in requests] == [4_096, 8_192, 16_384]
    calls = clinic.calls(block, JobKind.EXTRACT)
    assert [(c.outcome, c.input_tokens, c.output_tokens) for c in calls] == [
        ("truncated", 900, 64)
    ] * 3
    assert clinic.world.block(block.block_id).status == "pending"
    assert len(clinic.world.message_ids(block)) == 2


def test_lost_04_an_item_without_a_title_is_listed_and_repaired_once(clinic: Clinic) -> None:
    block = clinic.block_to(JobKind.EXTRACT, NOTEBOOKS)
    source = clinic.world.message_ids(block)[0]
    untitled = {
        "summary": "Lab notebooks move to plain text files.",
        "sourceMessageIds": [source],
        "quotes": ["plain text files"],
    }
    titled = {
        "title": "Backup at noon",
        "summary": "Backups run at noon every day.",
        "sourceMessageIds": [source],
        "quotes": ["backups at noon"],
    }
    events = [untitled, titled]
    reply = {"shouldExtract": True, "reason": "two decisions", "events": events}
    requests = _answering(clinic, json.dumps(reply))

    assert clinic.world.run(block, JobKind.EXTRACT) == "degraded"

    job = clinic.world.job(block, JobKind.EXTRACT)
    assert [event.title for event in clinic.world.events(block)] == ["Backup at noon"]
    assert "missing_field" in {one["code"] for one in job.rejections}
    assert len(requests) == 2
    assert "missing_field" in requests[1]["messages"][-1]["content"]


def test_lost_05_an_empty_object_is_a_failure_and_not_nothing_to_extract(clinic: Clinic) -> None:
    empty_before = _finished("extract", "succeeded_empty")
    retried_before = _finished("extract", "retryable")
    block = clinic.block_to(JobKind.EXTRACT)
    _answering(clinic, "{}")

    assert clinic.world.run(block, JobKind.EXTRACT) == "JobRetried"

    assert clinic.world.job(block, JobKind.EXTRACT).reason == "malformed"
    assert _finished("extract", "retryable") == retried_before + 1
    assert _finished("extract", "succeeded_empty") == empty_before

    _answering(clinic, '{"shouldExtract": false, "reason": "small talk", "events": []}')
    clinic.world.hurry(block, JobKind.EXTRACT)
    assert clinic.world.run(block, JobKind.EXTRACT) == "succeeded_empty"
    assert _finished("extract", "succeeded_empty") == empty_before + 1


@pytest.mark.parametrize("kind", [JobKind.SUMMARIZE, JobKind.EXTRACT, JobKind.PROJECT])
def test_stuck_04_a_model_that_never_answers_is_cut_and_the_attempt_counted(
    clinic: Clinic, kind: JobKind
) -> None:
    block = clinic.block_to(kind)
    clinic.ask(**{f"model_for_{kind.value}": "hang", "model_deadline_s": 0.3})

    assert clinic.world.run(block, kind) == "JobRetried"

    job = clinic.world.job(block, kind)
    assert (job.state, job.attempt, job.reason) == ("retryable", 1, "deadline")
    assert job.lease_token is None
    (call,) = clinic.calls(block, kind)
    assert call.duration_ms >= 290


def test_stuck_05_an_encoded_file_is_kept_whole_but_never_shown_to_a_model(
    clinic: Clinic,
) -> None:
    run = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 60
    block = clinic.world.say((f"Here is the file: {run}", "I cannot read that."))
    clinic.ask(model_for_extract="prose")

    assert clinic.world.run(block, JobKind.SUMMARIZE) == "succeeded"
    ends = clinic.world.run_until_final(block, JobKind.EXTRACT)

    assert ends == ["JobRetried", "JobRetried", "JobDied"]
    assert len(clinic.calls(block, JobKind.EXTRACT)) == 6
    asked = json.dumps(clinic.server.requests)
    assert run[:100] not in asked
    assert f"[encoded data omitted: {len(run)} chars" in asked
    statement = text("SELECT count(*) FROM messages WHERE content LIKE :run")
    with clinic.world.database.read(clinic.world.tenant_id) as tx:
        kept = tx.connection.execute(statement, {"run": f"%{run}%"}).scalar_one()
    assert kept == 1


def test_stuck_07_a_job_waits_for_the_quotas_reset_without_a_call_in_between(
    clinic: Clinic,
) -> None:
    body = {"error": {"type": "quota_exhausted", "resets_at": "2026-07-01T00:00:00Z"}}
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(429, json=body)

    clock = FixedClock(datetime(2026, 6, 30, 18, 0, tzinfo=UTC))
    _through(clinic, handler, clock=clock)
    block = clinic.block_to(JobKind.SUMMARIZE)

    assert clinic.world.run(block, JobKind.SUMMARIZE) == "snoozed"

    job = clinic.world.job(block, JobKind.SUMMARIZE)
    assert (job.state, job.reason, job.attempt) == ("available", "quota", 0)
    assert job.snoozed_s == 21_600
    assert 21_500 < clinic.due_in_s(block, JobKind.SUMMARIZE) <= 21_600
    # Neither a ring before its time nor another job of the same model asks the provider.
    assert clinic.world.run(block, JobKind.SUMMARIZE) == "duplicate_delivery"
    other = clinic.world.say(("My cat is Tom.", "Noted."), thread_id="other")
    assert clinic.world.run(other, JobKind.SUMMARIZE) == "snoozed"
    assert clinic.world.job(other, JobKind.SUMMARIZE).reason == "quota"
    assert 21_500 < clinic.due_in_s(other, JobKind.SUMMARIZE) <= 21_600
    assert len(asked) == 1
    assert clinic.calls(other, JobKind.SUMMARIZE) == []


@pytest.mark.parametrize("policy", [{}, {"max_output_tokens": 2_000}])
def test_cost_02_no_request_is_sent_twice_and_both_cut_replies_are_paid_for(
    clinic: Clinic, policy: dict[str, Any]
) -> None:
    block = clinic.block_to(JobKind.EXTRACT)
    clinic.world.policy(**policy)
    requests = _answering(
        clinic, CUT, finish="length", prompt_tokens=4_000, completion_tokens=2_000
    )

    assert clinic.world.run(block, JobKind.EXTRACT) == "JobRetried"
    clinic.world.hurry(block, JobKind.EXTRACT)
    assert clinic.world.run(block, JobKind.EXTRACT) == "JobRetried"

    assert len(requests) == 2
    assert requests[0] != requests[1]
    assert [one["max_tokens"] for one in requests] == ([2_000, 2_000] if policy else [4_096, 8_192])
    spent = sum(c.input_tokens + c.output_tokens for c in clinic.calls(block, JobKind.EXTRACT))
    assert spent == 12_000
