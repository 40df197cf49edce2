"""What model calls have cost today against the budgets, and the stop once one is used up.

Read from the ledger of calls; days are UTC days of the database's clock (D37).
"""

from __future__ import annotations

from sqlalchemy import text

from shared.domain.spend import BUDGET_EXCEEDED, BudgetScope, BudgetStop, SpentToday
from shared.store.audit import AuditEntry, record
from shared.store.database import ReadTx, WriteTx

BUDGET_STOP = "budget_stop"
"""The audit's word for a budget that is used up."""

_TODAY = text(
    """
    WITH today AS (SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS start)
    SELECT coalesce(sum(input_tokens + output_tokens)
                    FILTER (WHERE namespace = :namespace), 0)::bigint AS namespace,
           coalesce(sum(input_tokens + output_tokens), 0)::bigint AS tenant,
           to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
           extract(epoch FROM (SELECT start FROM today) + interval '1 day' - now())
               AS seconds_left
    FROM model_calls
    WHERE tenant_id = :tenant_id AND created_at >= (SELECT start FROM today)
      AND (:whole_tenant OR namespace = :namespace)
    """
)

_STOPS_OF_DAY = text(
    """
    SELECT 1 FROM audit_log
    WHERE tenant_id = :tenant_id AND subject = :subject AND action = :action
      AND namespace IS NOT DISTINCT FROM cast(:namespace AS text)
    LIMIT 1
    """
)

_WAKE = text(
    """
    UPDATE jobs SET scheduled_at = now(), rung_at = NULL,
        snoozed_s = greatest(0, snoozed_s - extract(epoch FROM scheduled_at - now())::integer)
    WHERE tenant_id = :tenant_id AND state = 'available'
      AND (cast(:namespace AS text) IS NULL OR namespace = :namespace)
      AND reason = :reason AND scheduled_at > now()
    """
)


def spent_today(tx: ReadTx, namespace: str, *, whole_tenant: bool) -> SpentToday:
    """Return what this UTC day's calls cost; the tenant's figure only when `whole_tenant`."""
    row = tx.connection.execute(
        _TODAY,
        {"tenant_id": tx.tenant_id, "namespace": namespace, "whole_tenant": whole_tenant},
    ).one()
    return SpentToday(row.namespace, row.tenant, row.day, float(row.seconds_left))


def audit_stop(tx: WriteTx, namespace: str, stop: BudgetStop) -> bool:
    """Write that a budget is used up, once for this day and budget; tell whether it was news."""
    whose = namespace if stop.scope is BudgetScope.NAMESPACE else None
    subject = f"{stop.day}:{stop.budget}"
    # Workers meet the end of a budget together: the first one writes, the others see it.
    tx.connection.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended(:lock, 0))"),
        {"lock": f"budget:{tx.tenant_id}:{whose}:{subject}"},
    )
    values = {"tenant_id": tx.tenant_id, "subject": subject, "namespace": whose}
    if tx.connection.execute(_STOPS_OF_DAY, {**values, "action": BUDGET_STOP}).first():
        return False
    detail = {"scope": stop.scope.value, "budget": stop.budget, "spent": stop.spent}
    record(tx, AuditEntry(BUDGET_STOP, namespace=whose, subject=subject, detail=detail))
    return True


def wake_stopped(tx: WriteTx, namespace: str | None) -> int:
    """Let jobs that wait for a new budget look again at once; None: of the whole tenant."""
    values = {"tenant_id": tx.tenant_id, "namespace": namespace, "reason": BUDGET_EXCEEDED}
    return tx.connection.execute(_WAKE, values).rowcount
