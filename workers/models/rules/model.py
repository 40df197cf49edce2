"""The rules behind the model port: each kind of task answered by reading, never by guessing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.jobs import FailureClass
from workers.models.inputs import (
    ExtractInput,
    ImportDecideInput,
    ImportRecoverInput,
    ProjectInput,
    SummarizeInput,
)
from workers.models.port import ModelError, ModelReply, ModelTask, Usage
from workers.models.rules.extract import extract
from workers.models.rules.import_decide import decide_import
from workers.models.rules.import_recover import recover_import
from workers.models.rules.project import project
from workers.models.rules.summarize import summarize


@dataclass(frozen=True, slots=True)
class RulesModel:
    """Answers every kind of task from the typed input alone.

    Deterministic and without a clock, a network or state. It costs no tokens and reports none.
    """

    provider: str = "rules"
    name: str = "rules"

    def complete(self, task: ModelTask[object]) -> ModelReply:
        """Answer one task. Raises ModelError (permanent, `unsupported_input`) for other inputs."""
        return ModelReply(_answer(task.input), self.name, Usage(), finish_reason="stop")


def _answer(material: object) -> Mapping[str, object]:
    match material:
        case SummarizeInput():
            return summarize(material)
        case ExtractInput():
            return extract(material)
        case ProjectInput():
            return project(material)
        case ImportDecideInput():
            return decide_import(material)
        case ImportRecoverInput():
            return recover_import(material)
    raise ModelError(
        FailureClass.PERMANENT,
        "unsupported_input",
        f"the rules have no answer to {type(material).__name__}",
    )
