"""A model whose calls are spans: which model, how many tokens, how it ended; never a word."""

from __future__ import annotations

from dataclasses import dataclass

from opentelemetry.trace import SpanKind

from shared.tracing import spanning
from workers.models.per_step import model_for
from workers.models.port import Model, ModelError, ModelReply, ModelTask, TaskKind, Usage


@dataclass(frozen=True, slots=True)
class TracedModel:
    """The same model, within a span for each call."""

    model: Model

    @property
    def provider(self) -> str:
        """The adapter's name."""
        return self.model.provider

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    def of(self, kind: TaskKind) -> TracedModel:
        """Return the model that answers tasks of this kind, within spans of its own name."""
        return TracedModel(model_for(self.model, kind))

    def complete(self, task: ModelTask[object]) -> ModelReply:
        """Answer one task. Raises ModelError."""
        attributes: dict[str, str | int] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self.provider,
            "gen_ai.request.model": self.name,
            "gen_ai.request.max_tokens": task.max_output_tokens,
            "stratagate.prompt_version": task.prompt.version,
        }
        with spanning(f"model {task.kind.value}", SpanKind.CLIENT, attributes=attributes) as span:
            try:
                reply = self.model.complete(task)
            except ModelError as error:
                span.set_attributes({"error.type": error.code, **_tokens(error.usage)})
                raise
            span.set_attributes({"gen_ai.response.model": reply.model, **_tokens(reply.usage)})
            return reply


def _tokens(usage: Usage) -> dict[str, int | bool]:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        **({"stratagate.usage_is_estimated": True} if usage.is_estimated else {}),
    }
