"""What recent calls of a step cost beside their block's text, for estimates of a batch run."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import text

from shared.domain.spend import StepCost
from shared.store.database import ReadTx

_STEP_COSTS = text(
    """
    WITH recent AS (
        SELECT kind, job_id, count(*) AS calls, sum(input_tokens) AS input_tokens,
               sum(output_tokens) AS output_tokens
        FROM (SELECT * FROM model_calls
              WHERE tenant_id = :tenant_id AND namespace = :namespace AND kind = ANY(:kinds)
                AND outcome IN ('accepted', 'partial') AND input_tokens > 0
              ORDER BY created_at DESC LIMIT 500) AS latest
        GROUP BY kind, job_id
    )
    SELECT recent.kind, count(*) AS jobs, sum(recent.calls) AS calls,
           sum(recent.output_tokens) AS output_tokens,
           sum(greatest(0, recent.input_tokens - layer.tokens)) AS frame_tokens
    FROM recent
    JOIN jobs AS job ON job.tenant_id = :tenant_id AND job.job_id = recent.job_id
    JOIN block_layers AS layer
      ON layer.tenant_id = :tenant_id AND layer.block_id = job.subject AND layer.level = 4
    GROUP BY recent.kind
    """
)


def step_costs(tx: ReadTx, namespace: str, kinds: Collection[str]) -> dict[str, StepCost]:
    """Return what the latest jobs of each step cost a call beside their block's text.

    Steps that no recent call measures are left out.
    """
    rows = tx.connection.execute(
        _STEP_COSTS, {"tenant_id": tx.tenant_id, "namespace": namespace, "kinds": list(kinds)}
    )
    return {
        row.kind: StepCost(
            frame_tokens=round(row.frame_tokens / row.calls),
            reply_tokens=round(row.output_tokens / row.calls),
            measured_jobs=row.jobs,
        )
        for row in rows
    }
