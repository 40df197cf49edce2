"""A model a step: what settings name for one kind of task, beside the model for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workers.models.port import Model, ModelReply, ModelTask, TaskKind


@dataclass(frozen=True, slots=True)
class PerStep:
    """Sends each kind of task to the model that is named for it, else to `default`."""

    default: Model
    by_kind: Mapping[TaskKind, Model] = field(default_factory=dict)

    @property
    def provider(self) -> str:
        """Adapter of the model for all kinds without one of their own."""
        return self.default.provider

    @property
    def name(self) -> str:
        """Name of the model for all kinds without one of their own."""
        return self.default.name

    def complete(self, task: ModelTask[object]) -> ModelReply:
        """Answer one task by the model of its kind. Raises ModelError."""
        return self.of(task.kind).complete(task)

    def of(self, kind: TaskKind) -> Model:
        """Return the model that answers tasks of this kind."""
        return self.by_kind.get(kind, self.default)


def model_for(model: Model, kind: TaskKind) -> Model:
    """Return the model that answers tasks of this kind: one that stands for several has `of`."""
    choose: Callable[[TaskKind], Model] | None = getattr(model, "of", None)
    return model if choose is None else choose(kind)
