"""Limits of a tenant: what it may ask, store and have under way; pure figures and their refusal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from shared.domain.tenancy import Policy


class Quota(StrEnum):
    """What a request may be refused for; the value is the code of the refusal."""

    REQUESTS = "rate_limited"
    TURNS = "quota_turns"
    STORAGE = "quota_storage"
    JOBS = "quota_jobs"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one tenant; None is without a limit.

    requests_per_s: requests of all keys together, with a burst of as many. turns_per_day: turns
    stored in a UTC day. tokens_per_day: tokens that model calls may cost in a UTC day, whatever
    budgets the tenant sets itself; turns are stored all the same. storage_bytes: bytes of the
    stored messages (content and tool calls, UTF-8). jobs_in_flight: jobs that have not ended.
    """

    requests_per_s: float | None = None
    turns_per_day: int | None = None
    tokens_per_day: int | None = None
    storage_bytes: int | None = None
    jobs_in_flight: int | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """What a tenant has used, and the seconds until the UTC day ends."""

    turns_today: int
    stored_bytes: int
    jobs_in_flight: int
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which quota is used up, at what limit, and after how many whole seconds to ask again."""

    quota: Quota
    limit: float
    retry_after_s: int


# Only people or time make room again: asking sooner would change nothing.
_STORAGE_WAIT_S = 3_600
_JOBS_WAIT_S = 5


def effective_limits(defaults: Limits, overrides: Mapping[str, Any]) -> Limits:
    """Lay a tenant's own limits over the defaults; null there is without a limit."""
    known = {f.name for f in fields(Limits)}
    return replace(defaults, **{name: v for name, v in overrides.items() if name in known})


def refusal_of(limits: Limits, used: Used, *, new_bytes: int) -> Refusal | None:
    """Return why one more turn of `new_bytes` may not be stored; None when it may."""
    turns, storage = limits.turns_per_day, limits.storage_bytes
    if turns is not None and used.turns_today >= turns:
        return Refusal(Quota.TURNS, turns, max(1, math.ceil(used.seconds_left)))
    if storage is not None and used.stored_bytes + new_bytes > storage:
        return Refusal(Quota.STORAGE, storage, _STORAGE_WAIT_S)
    return jobs_refusal(limits, used.jobs_in_flight)


def jobs_refusal(limits: Limits, in_flight: int) -> Refusal | None:
    """Return why no further job may be begun; None when one may."""
    if limits.jobs_in_flight is None or in_flight < limits.jobs_in_flight:
        return None
    return Refusal(Quota.JOBS, limits.jobs_in_flight, _JOBS_WAIT_S)


def within_limits(policy: Policy, overrides: Mapping[str, Any]) -> Policy:
    """Return the policy with the tenant's budget of tokens cut to its limit, where it has one."""
    limit = overrides.get("tokens_per_day")
    budget = policy.tenant_token_budget
    if limit is None or (budget is not None and budget <= limit):
        return policy
    return replace(policy, tenant_token_budget=limit)
