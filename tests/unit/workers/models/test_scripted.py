from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from shared.domain.jobs import FailureClass
from workers.models.port import ModelError, ModelReply, ModelTask, Prompt, TaskKind
from workers.models.scripted import ScriptedModel


class Answer(BaseModel):
    a: int


TASK: ModelTask[object] = ModelTask(
    TaskKind.EXTRACT, None, Prompt("v", "s", "u"), Answer, max_output_tokens=1, deadline_s=1.0
)


class Rules:
    provider = "rules"
    name = "rules"

    def complete(self, _task: ModelTask[object]) -> ModelReply:
        return ModelReply({"by": "rules"}, "rules")


def _model(folder: Path, script: dict[str, Any], **extra: Any) -> ScriptedModel:
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    return ScriptedModel(path=path, rules=Rules, **extra)


def test_entries_are_used_one_a_call_and_the_last_one_for_good(tmp_path: Path) -> None:
    script = {"extract": [{"fault": "transient"}, {"reply": {"a": 1}}]}
    model = _model(tmp_path, script)
    with pytest.raises(ModelError):
        model.complete(TASK)
    assert [model.complete(TASK).content for _ in range(2)] == [{"a": 1}] * 2


def test_a_kind_without_entries_goes_to_the_rules_unless_told_otherwise(tmp_path: Path) -> None:
    assert _model(tmp_path, {}).complete(TASK).content == {"by": "rules"}
    failing = _model(tmp_path, {"default": "fail_forever"})
    for _ in range(4):
        with pytest.raises(ModelError):
            failing.complete(TASK)


def test_a_changed_script_takes_effect_at_the_next_call(tmp_path: Path) -> None:
    model = _model(tmp_path, {"default": "fail_forever"})
    with pytest.raises(ModelError):
        model.complete(TASK)
    (tmp_path / "script.json").write_text(json.dumps({"default": "rules"}))
    assert model.complete(TASK).content == {"by": "rules"}


@pytest.mark.parametrize(
    ("fault", "failure_class"),
    [
        ("transient", FailureClass.TRANSIENT),
        ("refused", FailureClass.REFUSED),
        ("permanent", FailureClass.PERMANENT),
    ],
)
def test_faults_are_errors_of_their_class(
    tmp_path: Path, fault: str, failure_class: FailureClass
) -> None:
    with pytest.raises(ModelError) as raised:
        _model(tmp_path, {"extract": [{"fault": fault}]}).complete(TASK)
    assert raised.value.failure_class is failure_class


def test_a_rate_limit_says_how_long_to_wait(tmp_path: Path) -> None:
    script = {"extract": [{"fault": "rate_limited", "retry_after_s": 7}]}
    with pytest.raises(ModelError) as raised:
        _model(tmp_path, script).complete(TASK)
    assert raised.value.retry_after_s == 7


def test_a_hang_waits_and_then_goes_on(tmp_path: Path) -> None:
    waited: list[float] = []
    script = {"extract": [{"fault": "hang_s", "seconds": 30, "then": {"reply": {"a": 2}}}]}
    model = _model(tmp_path, script, wait=waited.append)
    assert model.complete(TASK).content == {"a": 2}
    assert waited == [30.0]
