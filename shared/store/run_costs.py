"""What a batch run would cost: the text of each block, and what recent calls of a step cost."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import text

from shared.domain.spend import RunEstimate, StepCost, estimate_run
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

_MATERIALS = text(
    """
    SELECT block.block_id, layer.tokens
    FROM blocks AS block
    JOIN block_layers AS layer USING (tenant_id, block_id)
    WHERE block.tenant_id = :tenant_id AND block.namespace = :namespace AND layer.level = 4
      AND (cast(:block_ids AS text[]) IS NULL OR block.block_id = ANY(cast(:block_ids AS text[])))
    ORDER BY block.sequence
    """
)


def estimate(
    tx: ReadTx,
    namespace: str,
    kinds: Collection[str],
    *,
    input_tokens_a_call: int,
    budget: int | None = None,
    block_ids: Sequence[str] | None = None,
) -> RunEstimate:
    """Estimate what running these steps over a namespace's blocks (or some of them) would cost.

    `input_tokens_a_call` is the setting `model_input_tokens`; `budget` tokens a UTC day, if any.
    """
    sizes = list(block_tokens(tx, namespace, block_ids=block_ids).values())
    return estimate_run(
        dict.fromkeys(kinds, sizes),
        step_costs(tx, namespace, kinds),
        input_tokens_a_call=input_tokens_a_call,
        budget=budget,
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


def block_tokens(
    tx: ReadTx, namespace: str, *, block_ids: Sequence[str] | None = None
) -> dict[str, int]:
    """Return the tokens of each block's readable text (L4): what a step of it reads at most."""
    ids = None if block_ids is None else list(block_ids)
    rows = tx.connection.execute(
        _MATERIALS, {"tenant_id": tx.tenant_id, "namespace": namespace, "block_ids": ids}
    )
    return {row.block_id: row.tokens for row in rows}
