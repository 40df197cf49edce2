"""Hold a tenant to its limits: what goes beyond them is 429 and stores nothing.

Figures live in Postgres, so that they hold over all processes; far from a limit they are looked
at once a second, and requests are taken from the common bucket in handfuls.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field

from shared.domain.limits import (
    Limits,
    Quota,
    Refusal,
    Used,
    effective_limits,
    jobs_refusal,
    refusal_of,
)
from shared.domain.tenancy import Caller
from shared.errors import TooMany
from shared.metrics import LIMITED
from shared.settings import Settings
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.limits import (
    jobs_in_flight,
    limit_defaults,
    limits_of,
    lock_quota,
    take_requests,
    used_by,
)

_FRESH_S = 1.0
# So far from a limit that a second's turns of all processes do not reach it.
_FAR_TURNS = 2_000
_FAR_BYTES = 64 * 1024 * 1024
_FAR_JOBS = 1_000
_HANDFUL_S = 0.2
_LOOK_AGAIN_S = 0.25
_MOST_TENANTS = 10_000
_WORDS = {
    Quota.REQUESTS: "this tenant may make {limit:g} requests a second; send it again later",
    Quota.TURNS: "this tenant's {limit:g} turns of today are used up; nothing was stored",
    Quota.STORAGE: "this tenant's {limit:g} bytes are used up; nothing was stored: erase, or ask "
    "the operator for more",
    Quota.JOBS: "this tenant has {limit:g} jobs under way; nothing was stored, send it again later",
}


@dataclass(slots=True)
class _Bucket:
    """A process's handful of a tenant's requests."""

    left: int = 0
    until: float = 0.0
    empty_until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True)
class _Seen:
    """A tenant's figures as this process last saw them, with what it has added since."""

    used: Used
    at: float
    turns: int = 0
    bytes: int = 0


_lock = threading.Lock()
_buckets: dict[str, _Bucket] = {}
_seen: dict[str, _Seen] = {}


def take_request(database: Database, caller: Caller, settings: Settings) -> None:
    """Count one request of the tenant; TooMany (`rate_limited`) when its rate is used up."""
    rate = effective_limits(limit_defaults(settings), caller.limits).requests_per_s
    if rate is None:
        return
    with _lock:
        if len(_buckets) >= _MOST_TENANTS:
            _buckets.clear()
        bucket = _buckets.setdefault(caller.tenant_id, _Bucket())
    with bucket.lock:
        now = time.monotonic()
        if bucket.left <= 0 or now >= bucket.until:
            _refill(database, caller.tenant_id, bucket, rate=rate, now=now)
        if bucket.left > 0:
            bucket.left -= 1
            return
    raise _too_many(Refusal(Quota.REQUESTS, rate, max(1, math.ceil(1 / rate))))


def check_turn(tx: WriteTx, limits: Limits, *, new_bytes: int) -> None:
    """Let one more turn of `new_bytes` be stored, or raise TooMany; asked before it is written.

    Near a quota one writer of the tenant at a time is let through, so that it is not passed.
    """
    if not _counts_turns(limits):
        return
    with _lock:
        seen = _seen.get(tx.tenant_id)
        if seen is not None and _is_far(limits, seen):
            seen.turns += 1
            seen.bytes += new_bytes
            return
    used = used_by(tx, most_jobs=limits.jobs_in_flight)
    fresh = _Seen(used, time.monotonic(), turns=1, bytes=new_bytes)
    if not _is_far(limits, fresh):
        lock_quota(tx)
        used = used_by(tx, most_jobs=limits.jobs_in_flight)
    refusal = refusal_of(limits, used, new_bytes=new_bytes)
    if refusal is not None:
        raise _too_many(refusal)
    with _lock:
        if len(_seen) >= _MOST_TENANTS:
            _seen.clear()
        _seen[tx.tenant_id] = fresh


def check_jobs(tx: ReadTx, limits: Limits) -> None:
    """Let a request begin further jobs, or raise TooMany (`quota_jobs`)."""
    if limits.jobs_in_flight is None:
        return
    refusal = jobs_refusal(limits, jobs_in_flight(tx, most=limits.jobs_in_flight))
    if refusal is not None:
        raise _too_many(refusal)


def check_new_work(tx: ReadTx, settings: Settings) -> None:
    """Let the tenant begin a piece of work of many jobs, or raise TooMany (`quota_jobs`)."""
    check_jobs(tx, limits_of(tx, defaults=limit_defaults(settings)))


def _refill(
    database: Database, tenant_id: str, bucket: _Bucket, *, rate: float, now: float
) -> None:
    if now < bucket.empty_until:
        bucket.left = 0
        return
    handful = max(1, math.ceil(rate * _HANDFUL_S))
    with database.write(tenant_id) as tx:
        bucket.left = take_requests(tx, rate=rate, burst=max(1.0, rate), wanted=handful)
    bucket.until = now + 1.0
    if bucket.left == 0:
        bucket.empty_until = now + min(_LOOK_AGAIN_S, 1 / rate)


def _counts_turns(limits: Limits) -> bool:
    figures = (limits.turns_per_day, limits.storage_bytes, limits.jobs_in_flight)
    return any(figure is not None for figure in figures)


def _is_far(limits: Limits, seen: _Seen) -> bool:
    """Tell whether what was seen is fresh, and no quota so near that it must be asked for."""
    if time.monotonic() - seen.at >= _FRESH_S:
        return False
    near = (
        (limits.turns_per_day, seen.used.turns_today + seen.turns, _FAR_TURNS),
        (limits.storage_bytes, seen.used.stored_bytes + seen.bytes, _FAR_BYTES),
        (limits.jobs_in_flight, seen.used.jobs_in_flight + seen.turns, _FAR_JOBS),
    )
    return all(limit is None or limit - used >= far for limit, used, far in near)


def _too_many(refusal: Refusal) -> TooMany:
    LIMITED.labels(refusal.quota.value).inc()
    return TooMany(
        _WORDS[refusal.quota].format(limit=refusal.limit),
        code=refusal.quota.value,
        retry_after_s=refusal.retry_after_s,
    )
