"""The fault table: what is broken, at which boundary of a job's walk, in an order from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import TypeVar


class FaultKind(StrEnum):
    """What is broken. The model faults bear the names of the scripted model's."""

    WORKER_CHILD_KILLED = "worker_child_killed"
    WORKER_KILLED = "worker_killed"
    WORKER_PAUSED = "worker_paused"
    RELAY_KILLED = "relay_killed"
    UPKEEP_KILLED = "upkeep_killed"
    API_KILLED = "api_killed"
    POSTGRES_KILLED = "postgres_killed"
    BROKER_FLUSHED = "broker_flushed"
    BROKER_STOPPED = "broker_stopped"
    BROKER_EMPTIED = "broker_emptied"
    RINGS_REPEATED = "rings_repeated"
    CLOCK_AHEAD = "clock_ahead"
    CLOCK_BEHIND = "clock_behind"
    MODEL_TRANSIENT = "model_transient"
    MODEL_TIMEOUT = "model_timeout"
    MODEL_RATE_LIMITED = "model_rate_limited"
    MODEL_REFUSED = "model_refused"
    MODEL_PERMANENT = "model_permanent"
    MODEL_MALFORMED = "model_malformed"
    MODEL_TRUNCATED = "model_truncated"
    MODEL_INTERNAL = "model_internal"
    MODEL_HANG = "model_hang"


class Boundary(StrEnum):
    """Where the walk stands when it is broken."""

    POSTED = "posted"
    DUE = "due"
    RUNG = "rung"
    SUMMARIZING = "summarizing"
    EXTRACTING = "extracting"
    PROJECTING = "projecting"
    FINISHED = "finished"


TARGETS: dict[FaultKind, str] = {
    FaultKind.WORKER_CHILD_KILLED: "worker",
    FaultKind.WORKER_KILLED: "worker",
    FaultKind.WORKER_PAUSED: "worker",
    FaultKind.RELAY_KILLED: "relay",
    FaultKind.UPKEEP_KILLED: "upkeep",
    FaultKind.API_KILLED: "api",
    FaultKind.POSTGRES_KILLED: "postgres",
    FaultKind.BROKER_FLUSHED: "valkey",
    FaultKind.BROKER_STOPPED: "valkey",
    FaultKind.BROKER_EMPTIED: "valkey",
    FaultKind.RINGS_REPEATED: "rings",
    FaultKind.CLOCK_AHEAD: "clock",
    FaultKind.CLOCK_BEHIND: "clock",
}
_SHORTEST_S, _LONGEST_S = 0.2, 1.5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; `lasts_s` is how long what it breaks stays broken, in seconds."""

    kind: FaultKind
    boundary: Boundary
    lasts_s: float = 0.5

    @property
    def target(self) -> str:
        """What it breaks; of one target, one fault goes on at a time."""
        return TARGETS.get(self.kind, "model")


def endless_plan(seed: int) -> Iterator[Fault]:
    """Yield faults without end: every kind once a round, every boundary of a kind in seven rounds.

    The same seed gives the same order.
    """
    source = Random(seed)  # noqa: S311 - repeatable, not secret
    orders = {kind: _shuffled(source, list(Boundary)) for kind in FaultKind}
    number = 0
    while True:
        for kind in _shuffled(source, list(FaultKind)):
            boundary = orders[kind][number % len(Boundary)]
            yield Fault(kind, boundary, round(source.uniform(_SHORTEST_S, _LONGEST_S), 2))
        number += 1


def _shuffled(source: Random, items: list[T]) -> list[T]:
    source.shuffle(items)
    return items
