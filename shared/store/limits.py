"""What a tenant may and what it has used: its limits, the counters, and its bucket of requests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, bindparam, select, text

from shared.domain.jobs import LIVE_STATES
from shared.domain.limits import Limits, Used, effective_limits
from shared.settings import Settings
from shared.store.database import ReadTx, WriteTx
from shared.store.tables import tenants

_LIVE: BindParameter[list[str]] = bindparam(
    "live", [state.value for state in LIVE_STATES], expanding=True
)
_USED = text(
    """
    SELECT coalesce(sum(day_turns) FILTER (WHERE counted_day = :today), 0)::bigint AS turns,
           coalesce(sum(stored_bytes), 0)::bigint AS bytes
    FROM namespaces WHERE tenant_id = :tenant_id
    """
)
_NOW = text("SELECT now()")
_IN_FLIGHT = text(
    """
    SELECT count(*) FROM (
        SELECT FROM jobs WHERE tenant_id = :tenant_id AND state IN :live LIMIT :most
    ) AS live
    """
).bindparams(_LIVE)
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
_FILL = text(
    """
    INSERT INTO request_allowances (tenant_id, tokens, refilled_at)
    VALUES (:tenant_id, :burst, clock_timestamp())
    ON CONFLICT (tenant_id) DO UPDATE SET
        tokens = least(:burst, request_allowances.tokens + :rate * greatest(
            0, extract(epoch FROM clock_timestamp() - request_allowances.refilled_at))),
        refilled_at = clock_timestamp()
    RETURNING tokens
    """
)
_TAKE = text("UPDATE request_allowances SET tokens = tokens - :n WHERE tenant_id = :tenant_id")
_DAY_S = 86_400.0


def limit_defaults(settings: Settings) -> Limits:
    """Return the limits that hold for tenants without their own."""
    return Limits(
        requests_per_s=settings.tenant_requests_per_s,
        turns_per_day=settings.tenant_turns_per_day,
        storage_bytes=settings.tenant_storage_bytes,
        jobs_in_flight=settings.tenant_jobs_in_flight,
    )


def limits_of(tx: ReadTx, *, defaults: Limits) -> Limits:
    """Return the limits of the transaction's tenant."""
    own = tx.connection.execute(
        select(tenants.c.limits).where(tenants.c.tenant_id == tx.tenant_id)
    ).scalar_one()
    return effective_limits(defaults, own)


def used_by(tx: ReadTx, *, most_jobs: int | None) -> Used:
    """Return what the tenant has used; jobs are counted up to `most_jobs`, None: not at all.

    Days are UTC days of the database's clock (D37).
    """
    values: dict[str, Any] = {"tenant_id": tx.tenant_id}
    now: datetime = tx.connection.execute(_NOW).scalar_one().astimezone(UTC)
    row = tx.connection.execute(_USED, {**values, "today": now.date()}).one()
    gone = (now - now.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()
    jobs = 0 if most_jobs is None else jobs_in_flight(tx, most=most_jobs)
    return Used(row.turns, row.bytes, jobs, _DAY_S - gone)


def jobs_in_flight(tx: ReadTx, *, most: int) -> int:
    """Return how many jobs of the tenant have not ended, counted up to `most`."""
    number: int = tx.connection.execute(
        _IN_FLIGHT, {"tenant_id": tx.tenant_id, "most": most}
    ).scalar_one()
    return number


def lock_quota(tx: WriteTx) -> None:
    """Let one writer of the tenant pass a nearly used quota at a time; held until the commit."""
    tx.connection.execute(_LOCK, {"name": f"quota:{tx.tenant_id}"})


def take_requests(tx: WriteTx, *, rate: float, burst: float, wanted: int) -> int:
    """Take up to `wanted` requests from the tenant's bucket and return how many there were.

    The bucket holds `burst` at most and fills with `rate` a second, by the database's clock.
    """
    values = {"tenant_id": tx.tenant_id, "rate": rate, "burst": burst}
    level: float = tx.connection.execute(_FILL, values).scalar_one()
    taken = min(wanted, int(level))
    if taken:
        tx.connection.execute(_TAKE, {"tenant_id": tx.tenant_id, "n": taken})
    return taken
