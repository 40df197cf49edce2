"""Traces that join a request, the jobs it causes and their model calls (OpenTelemetry).

Off unless the standard OTEL_ variables name an exporter. Off, nothing is recorded, but the ids
are still handed on, so that the log lines of a turn's whole way share one trace id.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import structlog
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from shared.settings import otel_variables

_PARENT: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)
_TRACES: Final = TraceContextTextMapPropagator()
_carried: ContextVar[str | None] = ContextVar("stratagate_traceparent", default=None)


@dataclass(slots=True)
class _State:
    is_on: bool = False
    provider: Any = None


_state = _State()


def start_tracing(part: str) -> bool:
    """Begin to export this process's traces if the OTEL_ variables ask for it; tell whether it did.

    Called once a process, after a fork. `part` names the process: `stratagate-<part>` is the
    service's name unless OTEL_SERVICE_NAME says otherwise. Raises ValueError for an exporter
    that is not built in.
    """
    wanted = _wanted_exporter(otel_variables())
    if wanted is None or _state.is_on:
        return False
    # Loaded where it is used: off, the SDK costs neither memory nor time.
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - see above

    use_provider(_new_provider(part, BatchSpanProcessor(_new_exporter(wanted))))
    return True


def use_provider(provider: Any) -> None:
    """Record spans with this provider, and those of psycopg as well."""
    from opentelemetry.instrumentation.psycopg import (  # noqa: PLC0415 - loaded where it is used
        PsycopgInstrumentor,
    )

    _state.is_on, _state.provider = True, provider
    instrumentor = PsycopgInstrumentor()
    if not instrumentor.is_instrumented_by_opentelemetry:
        # Statements without their values: those may be what somebody said.
        instrumentor.instrument(tracer_provider=provider, skip_dep_check=True)


def stop_tracing() -> None:
    """Export what is left, and record no more."""
    if not _state.is_on:
        return
    from opentelemetry.instrumentation.psycopg import (  # noqa: PLC0415 - loaded where it is used
        PsycopgInstrumentor,
    )

    PsycopgInstrumentor().uninstrument()
    _state.provider.shutdown()
    _state.is_on, _state.provider = False, None


def current_traceparent() -> str | None:
    """Return the W3C trace context of the present work, to be kept with what it causes."""
    if _state.is_on:
        carrier: dict[str, str] = {}
        _TRACES.inject(carrier)
        return carrier.get("traceparent")
    return _carried.get()


def trace_id_of(traceparent: str | None) -> str | None:
    """Return the trace's id, 32 hexadecimal digits, of a trace context."""
    return traceparent.split("-")[1] if traceparent else None


@contextmanager
def spanning(
    name: str,
    kind: SpanKind,
    *,
    parent: str | None = None,
    trace_id: str | None = None,
    attributes: Mapping[str, str | int] | None = None,
) -> Iterator[Span]:
    """Work within a span of its own, below `parent` (a traceparent) or what is under way.

    Logs within have its `trace_id`. Off, the span records nothing; without a valid parent the
    trace then gets `trace_id`, or a new one. An exception marks the span with its type alone.
    """
    valid = parent if parent is not None and _PARENT.fullmatch(parent) else None
    if not _state.is_on:
        with _carrying(valid or _carried.get() or _fresh(trace_id)):
            yield trace.INVALID_SPAN
        return
    context = _TRACES.extract({"traceparent": valid}) if valid else None
    tracer = _state.provider.get_tracer("stratagate")
    with tracer.start_as_current_span(
        name,
        context=context,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        told = trace.format_trace_id(span.get_span_context().trace_id)
        with structlog.contextvars.bound_contextvars(trace_id=told):
            try:
                yield span
            except BaseException as error:
                span.set_status(StatusCode.ERROR, type(error).__name__)
                raise


@contextmanager
def _carrying(traceparent: str) -> Iterator[None]:
    token = _carried.set(traceparent)
    try:
        with structlog.contextvars.bound_contextvars(trace_id=trace_id_of(traceparent)):
            yield
    finally:
        _carried.reset(token)


def _fresh(trace_id: str | None) -> str:
    return f"00-{trace_id or secrets.token_hex(16)}-{secrets.token_hex(8)}-00"


def _wanted_exporter(variables: Mapping[str, str]) -> str | None:
    """Return the exporter that the variables name; an endpoint alone means `otlp`."""
    if variables.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    named = variables.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if named:
        return None if named == "none" else named
    endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return "otlp" if any(variables.get(name) for name in endpoints) else None


def _new_exporter(name: str) -> Any:
    if name == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - chosen
            OTLPSpanExporter,
        )

        return OTLPSpanExporter()
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter  # noqa: PLC0415 - chosen

        return ConsoleSpanExporter()
    raise ValueError(
        f"OTEL_TRACES_EXPORTER={name[:40]!r} is not built in: use otlp (over HTTP), console or none"
    )


def _new_provider(part: str, processor: Any) -> Any:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - loaded where it is used
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - loaded where it is used

    named = (
        {} if otel_variables().get("OTEL_SERVICE_NAME") else {"service.name": f"stratagate-{part}"}
    )
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(processor)
    return provider
