"""The worker of the pipeline's benchmark: StrataGate's own, with a model that answers at once.

Beside its tasks it has one that does nothing, on the same pool, broker and settings: the baseline.
"""

from __future__ import annotations

from typing import Any

import redis

import workers.process
from shared.settings import get_settings
from workers.app import app
from workers.models.port import ModelReply, ModelTask, Usage
from workers.models.scripted import ScriptedModel

NOOP = "stratagate.bench_noop"
ECHO = "stratagate.bench_echo"
ANSWERS = "bench-answers"


def answer(task: ModelTask[Any]) -> ModelReply:
    """Reply with one fact of the block, as a good model would, in no time."""
    material = task.input
    if task.kind.value == "project":
        content: dict[str, Any] = {
            "reason": "named",
            "nodes": [_node(one) for one in material.events],
            "edges": [],
        }
        return ModelReply(content, "bench", Usage(900, 200))
    words = next(one for one in material.messages if one.role == "user")
    if task.kind.value == "summarize":
        content = {
            "title": "Parts on shelves",
            "tags": ["shelves"],
            "summary": words.content,
            "keypoints": [words.content],
            "shouldExtract": True,
        }
    else:
        content = {"shouldExtract": True, "reason": "a fact", "events": [_event(words)]}
    return ModelReply(content, "bench", Usage(900, 200))


def _event(words: Any) -> dict[str, Any]:
    return {
        "title": words.content,
        "summary": words.content,
        "sourceMessageIds": [words.id],
        "scope": "user",
        "criticality": "routine",
        "tags": ["shelves"],
        "quotes": [],
        "temporal": {"eventType": "other", "participants": []},
    }


def _node(event: Any) -> dict[str, Any]:
    return {
        "ref": event.event_id,
        "name": event.title.split()[0],
        "type": "tool",
        "aliases": [],
        "tags": [],
        "metadataProvenance": {"name": [event.event_id], "aliases": [], "tags": []},
        "sourceEventIds": [event.event_id],
        "facts": [],
    }


def model(*_: Any, **__: Any) -> ScriptedModel:
    """Build the model, whatever the settings name."""
    kinds = ("summarize", "extract", "project")
    return Forgetful(behaviours=dict.fromkeys(kinds, answer), name="bench")


class Forgetful(ScriptedModel):
    """Keeps no record of its tasks, which a long run would fill memory with."""

    __slots__ = ()

    def complete(self, task: ModelTask[object]) -> ModelReply:
        """Answer, and forget."""
        return self.behaviours[task.kind.value](task)


@app.task(name=NOOP)
def noop(_tenant_id: str, _job_id: str) -> None:
    """Do nothing, with the arguments of a job."""


@app.task(name=ECHO)
def echo(_tenant_id: str, job_id: str) -> None:
    """Say that the message has come, on a list that the driver waits at."""
    _answers().rpush(ANSWERS, job_id)


_clients: list[redis.Redis] = []


def _answers() -> redis.Redis:
    if not _clients:
        _clients.append(redis.Redis.from_url(get_settings().broker_url.get_secret_value()))
    return _clients[0]


workers.process.build_model = model  # type: ignore[assignment] # stands in for every provider
