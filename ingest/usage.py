"""What model calls cost, for the bill and for whoever watches a budget (`GET /v1/usage`)."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any

from shared.domain.spend import Budgets, stop_of
from shared.domain.tenancy import Caller
from shared.errors import InvalidInput
from shared.http.paging import Page
from shared.settings import Settings
from shared.store.database import ReadTx
from shared.store.limits import limit_defaults, limits_of, used_by
from shared.store.namespaces import get_namespace, policy_defaults
from shared.store.policies import policy_for
from shared.store.spend import spent_today
from shared.store.usage import Span, Usage, UsageKey, usage_by_day, usage_total

LONGEST_SPAN_DAYS = 366
_MOST_JOBS = 1_000_000
_DEFAULT_SPAN = timedelta(days=30)


def asked_span(
    caller: Caller,
    *,
    namespace: str | None,
    first: date | None,
    last: date | None,
    now: datetime,
) -> Span:
    """Return the span of days (UTC, inclusive; by default the last 31) within the key's reach.

    InvalidInput when it ends before it begins or is longer than 366 days.
    """
    end = last or now.date()
    begin = first or end - _DEFAULT_SPAN
    if end < begin:
        raise InvalidInput.at("/query/to", "ends before it begins", "inverted_window")
    if end - begin >= timedelta(days=LONGEST_SPAN_DAYS):
        raise InvalidInput.at(
            "/query/from", f"ask for at most {LONGEST_SPAN_DAYS} days", "invalid_value"
        )
    only = caller.namespaces if namespace is None else frozenset({namespace})
    return Span(begin, end, only)


def usage_page(tx: ReadTx, span: Span, page: Page) -> dict[str, Any]:
    """Return a page of usage, newest day first, and what the whole span costs."""
    after = None if page.after is None else _place(page.after)
    found = usage_by_day(tx, span, after=after, limit=page.probe)
    answer = page.answer(found, key=lambda usage: _cursor(usage.key), view=_view)
    return {
        "from": span.first.isoformat(),
        "to": span.last.isoformat(),
        "total": usage_total(tx, span),
        **answer,
    }


def budget_today(
    tx: ReadTx, caller: Caller, namespace: str | None, *, settings: Settings, now: datetime
) -> dict[str, Any]:
    """Return what today's calls cost against the budgets that hold.

    The tenant's figures are null for a key that does not reach the whole tenant. NotFound for an
    unknown namespace.
    """
    defaults = policy_defaults(settings)
    policy = (
        policy_for(tx, "", defaults=defaults)
        if namespace is None
        else get_namespace(tx, namespace, defaults=defaults).policy
    )
    sees_tenant = caller.namespaces is None
    spent = spent_today(tx, namespace or "", whole_tenant=True)
    budgets = Budgets(policy.token_budget if namespace else None, policy.tenant_token_budget)
    stop = stop_of(budgets, spent)
    resumes_at = now + timedelta(seconds=spent.seconds_left)
    return {
        "day": spent.day,
        "namespace_spent": spent.namespace if namespace else None,
        "namespace_budget": budgets.namespace,
        "tenant_spent": spent.tenant if sees_tenant else None,
        "tenant_budget": budgets.tenant if sees_tenant else None,
        "stopped_by": stop.scope.value if stop else None,
        "resumes_at": resumes_at.isoformat(timespec="seconds") if stop else None,
    }


def limits_now(tx: ReadTx, caller: Caller, *, settings: Settings) -> dict[str, Any] | None:
    """Return the tenant's limits and what of each is used; None for a key limited to namespaces."""
    if caller.namespaces is not None:
        return None
    limits = limits_of(tx, defaults=limit_defaults(settings))
    used = used_by(tx, most_jobs=_MOST_JOBS)
    return {
        **asdict(limits),
        "turns_today": used.turns_today,
        "stored_bytes": used.stored_bytes,
        "jobs_in_flight_now": used.jobs_in_flight,
    }


def _view(usage: Usage) -> dict[str, Any]:
    return {
        "day": usage.key.day.isoformat(),
        "namespace": usage.key.namespace,
        "step": usage.key.kind,
        "model": usage.key.model,
        "calls": usage.calls,
        "failed_calls": usage.failed_calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }


def _cursor(key: UsageKey) -> str:
    return json.dumps([key.day.isoformat(), key.namespace, key.kind, key.model])


def _place(cursor: str) -> UsageKey:
    try:
        day, namespace, kind, model = json.loads(cursor)
        return UsageKey(date.fromisoformat(day), str(namespace), str(kind), str(model))
    except (ValueError, TypeError) as error:
        raise InvalidInput.at(
            "/query/cursor", "give the next_cursor of the page before", "invalid_cursor"
        ) from error
