"""Write each model call to the ledger as soon as its cost is known, and its end with the job's."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.domain.jobs import Job
from shared.metrics import MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS
from shared.store.database import Database, WriteTx
from shared.store.job_endings import Costs
from shared.store.model_calls import NewCall, record_call_at_once, settle_calls
from workers.models.asking import Asker, ModelCall


@dataclass(slots=True)
class CallLedger:
    """The calls of one attempt: recorded one by one, settled together at its end."""

    database: Database
    job: Job
    _numbers: list[int] = field(default_factory=list)

    def note(self, call: ModelCall) -> None:
        """Record a call in a transaction of its own, so that a killed worker loses no spend."""
        _measure(call)
        spent = NewCall(
            job_id=self.job.job_id,
            attempt=self.job.attempt,
            namespace=self.job.namespace,
            kind=call.kind,
            model=call.model,
            prompt_version=call.prompt_version,
            outcome=call.outcome,
            input_tokens=call.usage.input_tokens,
            output_tokens=call.usage.output_tokens,
            duration_ms=call.duration_ms,
            reply=call.reply,
            lease_token=self.job.lease_token,
        )
        self._numbers.append(record_call_at_once(self.database, self.job.tenant_id, spent))

    def settle(self, tx: WriteTx, asker: Asker) -> None:
        """Write how the calls ended, and let old replies go."""
        outcomes = self.outcomes(asker)
        settle_calls(tx, self.job.namespace, self.job.job_id, self.job.attempt, outcomes)

    def costs(self, asker: Asker | None, prompt_version: str | None) -> Costs:
        """Return what the attempt used, for the end of its job; a step without prompts no model."""
        if asker is None:
            return Costs(prompt_version=prompt_version)
        return Costs(
            model=asker.model.name if prompt_version else None,
            prompt_version=prompt_version,
            usage=usage_of(asker),
            outcomes=self.outcomes(asker),
        )

    def outcomes(self, asker: Asker) -> dict[int, str]:
        """Return how the calls that were answered ended, by their numbers."""
        ends = zip(self._numbers, asker.calls, strict=False)
        return {number: call.outcome for number, call in ends if call.reply is not None}


def _measure(call: ModelCall) -> None:
    MODEL_CALLS.labels(call.kind, call.outcome).inc()
    MODEL_SECONDS.labels(call.kind).observe(call.duration_ms / 1000)
    MODEL_TOKENS.labels(call.kind, "in").inc(call.usage.input_tokens)
    MODEL_TOKENS.labels(call.kind, "out").inc(call.usage.output_tokens)


def usage_of(asker: Asker) -> dict[str, int]:
    """Return what an attempt has cost so far, for the job's row.

    `estimated_calls` is there where an endpoint did not count some calls' tokens.
    """
    estimated = sum(call.usage.is_estimated for call in asker.calls)
    return {
        "calls": len(asker.calls),
        "input_tokens": sum(call.usage.input_tokens for call in asker.calls),
        "output_tokens": sum(call.usage.output_tokens for call in asker.calls),
        **({"estimated_calls": estimated} if estimated else {}),
    }
