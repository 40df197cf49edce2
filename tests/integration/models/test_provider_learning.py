"""What a worker learns about its provider, whom it asks, and what it never tells."""

from __future__ import annotations

import logging
import time

import pytest
from sqlalchemy import text

from shared.domain.jobs import JobKind
from tests.integration.models.conftest import KEY, Clinic
from workers.models.endpoints import ENDPOINTS


def test_an_open_breaker_lets_jobs_wait_and_a_probe_closes_it(clinic: Clinic) -> None:
    clinic.ask(model_breaker_failures=2, model_name="http_500")
    block = clinic.block_to(JobKind.SUMMARIZE)
    ends = [clinic.world.run(block, JobKind.SUMMARIZE)]
    clinic.world.hurry(block, JobKind.SUMMARIZE)
    ends.append(clinic.world.run(block, JobKind.SUMMARIZE))
    clinic.world.hurry(block, JobKind.SUMMARIZE)
    ends.append(clinic.world.run(block, JobKind.SUMMARIZE))

    assert ends == ["JobRetried", "JobRetried", "snoozed"]
    job = clinic.world.job(block, JobKind.SUMMARIZE)
    assert (job.state, job.reason, job.attempt) == ("available", "breaker_open", 2)
    assert len(clinic.server.requests) == 2
    assert len(clinic.calls(block, JobKind.SUMMARIZE)) == 2

    clinic.server.play("good")
    breaker = ENDPOINTS.of(clinic.server.url, "http_500", limit=2, pause_s=30.0).breaker
    breaker.monotonic = lambda: time.monotonic() + 31.0
    clinic.world.hurry(block, JobKind.SUMMARIZE)
    assert clinic.world.run(block, JobKind.SUMMARIZE) == "succeeded"
    assert clinic.world.run(block, JobKind.EXTRACT) == "succeeded"


def test_a_breaker_belongs_to_the_endpoint_and_not_to_one_of_its_models(clinic: Clinic) -> None:
    clinic.ask(model_breaker_failures=1, model_for_summarize="reset")
    block = clinic.block_to(JobKind.SUMMARIZE)
    assert clinic.world.run(block, JobKind.SUMMARIZE) == "JobRetried"
    clinic.ask(model_breaker_failures=1, model_for_summarize="good")
    clinic.world.hurry(block, JobKind.SUMMARIZE)
    assert clinic.world.run(block, JobKind.SUMMARIZE) == "snoozed"
    assert clinic.world.job(block, JobKind.SUMMARIZE).reason == "breaker_open"


@pytest.mark.parametrize(
    ("model", "refused"),
    [("no_schema", "json_schema"), ("no_effort", "reasoning_effort"),
     ("no_template_switch", "chat_template_kwargs"), ("no_lengths", "maxLength")],
)  # fmt: skip
def test_what_an_endpoint_refused_is_not_asked_for_again(
    clinic: Clinic, model: str, refused: str
) -> None:
    clinic.ask(model_name=model)
    block = clinic.block_to(JobKind.PROJECT)
    assert clinic.world.run(block, JobKind.PROJECT) == "succeeded"
    with_it = [refused in str(request) for request in clinic.server.requests]
    assert with_it == [True, False, False, False]


def test_what_was_refused_is_remembered_though_the_simpler_request_failed(
    clinic: Clinic,
) -> None:
    clinic.ask(model_name="m")
    clinic.server.play("no_schema", "http_500", "good")
    block = clinic.block_to(JobKind.SUMMARIZE)
    assert clinic.world.run_until_final(block, JobKind.SUMMARIZE) == ["JobRetried", "succeeded"]
    formats = [request["response_format"]["type"] for request in clinic.server.requests]
    assert formats == ["json_schema", "json_object", "json_object"]


def test_each_step_asks_its_own_model_and_the_ledger_names_it(clinic: Clinic) -> None:
    clinic.ask(model_for_extract="fences", model_for_project="think")
    block = clinic.block_to(JobKind.PROJECT)
    assert clinic.world.run(block, JobKind.PROJECT) == "succeeded"
    assert [one["model"] for one in clinic.server.requests] == ["good", "fences", "think"]
    kinds = (JobKind.SUMMARIZE, JobKind.EXTRACT, JobKind.PROJECT)
    assert [clinic.world.job(block, kind).model for kind in kinds] == ["good", "fences", "think"]


def test_a_namespaces_model_holds_for_all_of_its_steps(clinic: Clinic) -> None:
    clinic.world.policy(provider="openai", model="prose_around")
    clinic.ask(model_for_extract="http_500")
    block = clinic.block_to(JobKind.PROJECT)
    assert clinic.world.run(block, JobKind.PROJECT) == "succeeded"
    assert {one["model"] for one in clinic.server.requests} == {"prose_around"}


def test_reasoning_is_switched_off_and_each_step_has_its_cap(clinic: Clinic) -> None:
    clinic.ask(max_output_for_summarize=300, max_output_for_extract=400)
    block = clinic.block_to(JobKind.PROJECT)
    clinic.world.run(block, JobKind.PROJECT)
    assert [one["max_tokens"] for one in clinic.server.requests] == [300, 400, 4_096]
    assert {one["reasoning_effort"] for one in clinic.server.requests} == {"none"}


def test_a_call_without_a_reply_is_in_the_ledger_too(clinic: Clinic) -> None:
    clinic.ask(model_for_summarize="refusal")
    block = clinic.block_to(JobKind.SUMMARIZE)
    clinic.world.run(block, JobKind.SUMMARIZE)
    (call,) = clinic.calls(block, JobKind.SUMMARIZE)
    assert (call.outcome, call.input_tokens, call.output_tokens) == ("refused", 40, 20)


def test_tokens_that_an_endpoint_does_not_count_are_estimated_and_spent(clinic: Clinic) -> None:
    clinic.ask(model_for_summarize="uncounted")
    block = clinic.block_to(JobKind.EXTRACT)
    (call,) = clinic.calls(block, JobKind.SUMMARIZE)
    sent = "".join(one["content"] for one in clinic.server.requests[0]["messages"])
    assert call.input_tokens == pytest.approx(len(sent) / 4, abs=2)
    assert call.output_tokens > 20
    assert clinic.world.job(block, JobKind.SUMMARIZE).usage == {
        "calls": 1,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "estimated_calls": 1,
    }


@pytest.mark.parametrize("fault", ["good", "unauthorized", "reset", "http_500", "html_200"])
def test_the_key_goes_to_the_provider_and_nowhere_else(
    clinic: Clinic, fault: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    clinic.ask(model_for_summarize=fault)
    block = clinic.block_to(JobKind.SUMMARIZE)
    clinic.world.run(block, JobKind.SUMMARIZE)

    sent = clinic.server.script.headers[-1]
    assert sent["authorization"] == f"Bearer {KEY}"
    output = capsys.readouterr()
    stored = _everything_stored(clinic)
    for told in (caplog.text, output.out, output.err, stored, repr(clinic.world.deps)):
        assert KEY not in told
    assert "sk-abc" not in stored


def _everything_stored(clinic: Clinic) -> str:
    statement = text(
        "SELECT (SELECT json_agg(j) FROM jobs j)::text || "
        "coalesce((SELECT json_agg(c) FROM model_calls c)::text, '')"
    )
    with clinic.world.database.read(clinic.world.tenant_id) as tx:
        return str(tx.connection.execute(statement).scalar_one())
