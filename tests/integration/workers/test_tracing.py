"""One trace from a request over its jobs to their model calls; the same id on every log line."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from shared import tracing
from shared.auth import issue_key
from shared.domain.jobs import JobState
from shared.logs import configure_logs
from shared.settings import Settings
from shared.store.database import Database
from shared.store.jobs import list_jobs
from tests.integration.ingest.serving import served, turn
from tests.integration.workers.conftest import NAMESPACE, World
from tests.support.databases import ALL
from workers.models.rules import RulesModel
from workers.runner import run_job

MARKER = "Zanzibarquux"
SECRET_WORDS = f"The {MARKER} greenhouse in Bergen needs a new heater by Friday."
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HOME = f"/v1/namespaces/{NAMESPACE}"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Tracing is on, and keeps its spans here."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use_provider(provider)
    yield exporter
    tracing.stop_tracing()


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """Every log line of the process, at the lowest level, as JSON."""
    configure_logs("json", "DEBUG")
    root = logging.getLogger()
    ours = next(one for one in root.handlers if type(one).__name__ == "_Handler")
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(ours.formatter)
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)
    configure_logs("json", "INFO")


def _walk(world: World, settings: Settings, headers: dict[str, str]) -> httpx.Response:
    """Post a turn that seals a block over HTTP, then run its jobs and all that follow."""
    world.policy(block_turn_size=1)
    with served(settings) as url, httpx.Client(base_url=url, headers=headers) as client:
        answer = client.post(f"{HOME}/turns", json=turn("traced", SECRET_WORDS))
    assert answer.status_code == 201, answer.text
    deps = replace(world.deps, model=RulesModel(), database=Database(settings))
    while due := _due(world):
        for job_id in due:
            run_job(world.tenant_id, job_id, deps)
    deps.database.close()
    return answer


def _due(world: World) -> list[str]:
    with world.database.read(world.tenant_id) as tx:
        return [row["job_id"] for row in list_jobs(tx, states=[JobState.AVAILABLE])]


def _headers(world: World, **more: str) -> dict[str, str]:
    with world.database.write(world.tenant_id) as tx:
        key = issue_key(tx, label="test", permissions=ALL).key
    return {"Authorization": f"Bearer {key}", **more}


def _trace(span: ReadableSpan) -> str:
    return f"{span.context.trace_id:032x}" if span.context else ""


def test_a_request_its_jobs_and_their_model_calls_are_one_trace(
    world: World, settings: Settings, spans: InMemorySpanExporter
) -> None:
    parent = f"00-{TRACE}-{SPAN}-01"
    _walk(world, settings, _headers(world, traceparent=parent))

    ours = [span for span in spans.get_finished_spans() if _trace(span) == TRACE]
    names = {span.name for span in ours}
    assert {
        f"POST {HOME.replace(NAMESPACE, '{ns}')}/turns",
        "job summarize",
        "job extract",
        "job project",
        "model summarize",
        "model extract",
    } <= names
    by_id = {span.context.span_id: span for span in ours if span.context}
    request = next(span for span in ours if span.name.startswith("POST"))
    assert request.parent is not None
    assert f"{request.parent.span_id:016x}" == SPAN
    summarize = next(span for span in ours if span.name == "job summarize")
    assert summarize.parent is not None
    assert _root(summarize, by_id) is request
    model = next(span for span in ours if span.name == "model summarize")
    assert model.parent is not None
    assert by_id[model.parent.span_id] is summarize
    extract = next(span for span in ours if span.name == "job extract")
    assert _root(extract, by_id) is request
    assert dict(summarize.attributes or {})["stratagate.namespace"] == NAMESPACE
    assert any(_is_statement(span) for span in ours), "psycopg's statements are spans of the trace"


def test_spans_hold_no_words_of_anybody(
    world: World, settings: Settings, spans: InMemorySpanExporter
) -> None:
    _walk(world, settings, _headers(world))
    told = [span.to_json() for span in spans.get_finished_spans()]
    assert len(told) > 20
    assert [span for span in told if MARKER.lower() in span.lower()] == []


def test_an_attempt_that_fails_marks_its_span_with_a_type_and_nothing_more(
    spans: InMemorySpanExporter,
) -> None:
    kind = tracing.SpanKind.INTERNAL
    with pytest.raises(ValueError, match=MARKER), tracing.spanning("fails", kind):
        raise ValueError(MARKER)
    (span,) = spans.get_finished_spans()
    assert (span.status.status_code.name, span.status.description) == ("ERROR", "ValueError")
    assert span.events == ()


def test_without_tracing_the_lines_of_a_turns_whole_way_still_share_one_id(
    world: World, settings: Settings, lines: io.StringIO
) -> None:
    answer = _walk(world, settings, _headers(world))
    written = [json.loads(line) for line in lines.getvalue().splitlines()]
    trace_id = answer.headers["x-request-id"].partition("_")[2]
    mine = [line for line in written if line.get("trace_id") == trace_id]
    (request,) = [line for line in mine if line["event"] == "request"]
    assert (request["tenant_id"], request["namespace"]) == (world.tenant_id, NAMESPACE)
    ended = [line for line in mine if line["event"] == "job_ended"]
    assert {line["kind"] for line in ended} == {"summarize", "extract", "project"}
    for line in ended:
        assert (line["tenant_id"], line["namespace"]) == (world.tenant_id, NAMESPACE)
        assert line["job_id"].startswith("job_")
        assert line["attempt"] == 1


def test_no_log_line_holds_a_word_of_a_turn_even_at_the_lowest_level(
    world: World, settings: Settings, lines: io.StringIO
) -> None:
    _walk(world, settings, _headers(world))
    written = lines.getvalue()
    assert written.count("job_ended") >= 3
    assert MARKER.lower() not in written.lower()


@pytest.mark.parametrize(
    ("variables", "exporter"),
    [
        ({}, None),
        ({"OTEL_SERVICE_NAME": "x"}, None),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, None),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
    ],
)
def test_the_standard_variables_turn_tracing_on_and_nothing_else_does(
    variables: dict[str, str], exporter: str | None
) -> None:
    assert tracing._wanted_exporter(variables) == exporter


def test_a_trace_context_that_is_none_is_not_taken_over() -> None:
    kind = tracing.SpanKind.SERVER
    for hostile in ("", "x", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{SPAN}-01\n", "é" * 55):
        with tracing.spanning("request", kind, parent=hostile, trace_id="f" * 32):
            assert tracing.trace_id_of(tracing.current_traceparent()) == "f" * 32
    with tracing.spanning("request", kind, parent=f"00-{TRACE}-{SPAN}-01"):
        assert tracing.trace_id_of(tracing.current_traceparent()) == TRACE
    assert tracing.current_traceparent() is None


def _root(span: ReadableSpan, by_id: dict[int, ReadableSpan]) -> ReadableSpan:
    while span.parent is not None and span.parent.span_id in by_id:
        span = by_id[span.parent.span_id]
    return span


def _is_statement(span: ReadableSpan) -> bool:
    attributes: dict[str, Any] = dict(span.attributes or {})
    return attributes.get("db.system") == "postgresql" or "db.system.name" in attributes
