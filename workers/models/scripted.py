"""A model that does as a script says: fixed replies, faults and delays, across processes.

The script is a JSON file, read again at every call, so that a test changes a running worker.
See `ScriptedModel` for its form.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from shared.domain.jobs import FailureClass
from shared.settings import Settings
from workers.models.port import Model, ModelError, ModelReply, ModelTask, Usage

Behaviour = Callable[[ModelTask[object]], ModelReply]

_FAULTS: Mapping[str, tuple[FailureClass, str]] = {
    "transient": (FailureClass.TRANSIENT, "http_503"),
    "timeout": (FailureClass.TRANSIENT, "deadline"),
    "refused": (FailureClass.REFUSED, "refused"),
    "permanent": (FailureClass.PERMANENT, "http_401"),
    "rate_limited": (FailureClass.TRANSIENT, "http_429"),
}


@dataclass(slots=True)
class ScriptedModel:
    """Answers from a script.

    The file holds, per kind of task, a list of entries used one a call, the last one for good:

        {"summarize": [{"fault": "transient"}, {"reply": {"title": ...}}], "default": "rules"}

    Entries: `"rules"` passes the task to the rules model; `{"reply": object}` and
    `{"text": string, "finish_reason"?}` are replies; `{"fault": name}` is one of transient,
    timeout, refused, permanent, rate_limited (with `retry_after_s`), malformed, truncated,
    internal (an error nobody expects) and hang_s (with `seconds`: waits, then goes on to the
    entry's `then`, else to the rules model). `seconds` delays any other entry too. Kinds
    without a list do what `default` says, which is one entry or `"fail_forever"`.

    In one process, `behaviours` answers a kind by a function instead. Calls are counted per
    model, so each worker process goes through a list by itself.
    """

    path: Path | None = None
    behaviours: Mapping[str, Behaviour] = field(default_factory=dict)
    rules: Callable[[], Model] | None = None
    wait: Callable[[float], None] = time.sleep
    name: str = "scripted"
    provider: str = "scripted"
    tasks: list[ModelTask[object]] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def from_settings(cls, settings: Settings) -> ScriptedModel:
        """Return the model of the settings' script; without one everything goes to the rules."""
        path = Path(settings.scripted_file) if settings.scripted_file else None
        return cls(path=path)

    def complete(self, task: ModelTask[object]) -> ModelReply:
        """Answer as the script says. Raises ModelError where it says so."""
        with self._lock:
            self.tasks.append(task)
        behaviour = self.behaviours.get(task.kind.value)
        if behaviour is not None:
            return behaviour(task)
        return self._play(self._entry(task.kind.value), task)

    def _entry(self, kind: str) -> object:
        script = self._script()
        entries = script.get(kind)
        if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
            return entries or script.get("default", "rules")
        with self._lock:
            index = self._counts.get(kind, 0)
            self._counts[kind] = index + 1
        return entries[min(index, len(entries) - 1)]

    def _script(self) -> Mapping[str, Any]:
        if self.path is None:
            return {}
        return cast("Mapping[str, Any]", orjson.loads(self.path.read_bytes()))

    def _play(self, entry: object, task: ModelTask[object]) -> ModelReply:
        if entry == "rules":
            return self._by_rules(task)
        if entry == "fail_forever":
            entry = {"fault": "transient"}
        if not isinstance(entry, Mapping):
            raise TypeError(f"a script has no entry of this form: {entry!r}")
        if entry.get("seconds"):
            self.wait(float(entry["seconds"]))
        if "fault" in entry:
            return self._fault(str(entry["fault"]), entry, task)
        content = entry["reply"] if "reply" in entry else str(entry["text"])
        usage = Usage(int(entry.get("input_tokens", 0)), int(entry.get("output_tokens", 0)))
        return ModelReply(content, self.name, usage, entry.get("finish_reason", "stop"))

    def _fault(self, fault: str, entry: Mapping[str, Any], task: ModelTask[object]) -> ModelReply:
        if fault == "hang_s":
            return self._play(entry.get("then", "rules"), task)
        if fault == "malformed":
            return ModelReply("I cannot put this into an object.", self.name)
        if fault == "truncated":
            return ModelReply('{"title": "cut off he', self.name, finish_reason="length")
        if fault == "internal":
            raise RuntimeError("the script asks for an error that nobody expects")
        failure_class, code = _FAULTS[fault]
        raise ModelError(
            failure_class,
            code,
            f"the script says {fault}",
            retry_after_s=entry.get("retry_after_s"),
        )

    def _by_rules(self, task: ModelTask[object]) -> ModelReply:
        if self.rules is None:
            from workers.models.rules import RulesModel  # noqa: PLC0415 - loaded where asked for

            self.rules = RulesModel
        return self.rules().complete(task)
