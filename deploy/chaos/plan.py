"""The fault table: what is broken, at which boundary of a job's walk, in an order from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from random import Random
from typing import TypeVar


class FaultKind(StrEnum):
    """What is broken. The model faults bear the names of the scripted model's; those of a provider
    are played over HTTP, and named by the fault's `play`."""

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
    PROVIDER = "provider"


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
    FaultKind.PROVIDER: "provider",
}
_SHORTEST_S, _LONGEST_S = 0.2, 1.5
PLAYS_A_ROUND = 4
"""Provider faults in each round, so that 300 faults hold every play of the fault server."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; `lasts_s` is how long what it breaks stays broken, in seconds.

    `play` is what the provider does, for faults of the provider alone.
    """

    kind: FaultKind
    boundary: Boundary
    lasts_s: float = 0.5
    play: str = ""

    @property
    def target(self) -> str:
        """What it breaks; of one target, one fault goes on at a time."""
        return TARGETS.get(self.kind, "model")


def endless_plan(seed: int, *, plays: Sequence[str]) -> Iterator[Fault]:
    """Yield faults without end: every kind once a round, every boundary of a kind in seven rounds.

    A round has four faults of the provider, which go through `plays`. The same seed gives the same
    order.
    """
    source = Random(seed)  # noqa: S311 - repeatable, not secret
    kinds = [kind for kind in FaultKind if kind is not FaultKind.PROVIDER]
    orders = {kind: _shuffled(source, list(Boundary)) for kind in kinds}
    played = cycle(_shuffled(source, list(plays)))
    number = 0
    while True:
        for kind in _shuffled(source, [*kinds, *[FaultKind.PROVIDER] * PLAYS_A_ROUND]):
            lasts_s = round(source.uniform(_SHORTEST_S, _LONGEST_S), 2)
            if kind is FaultKind.PROVIDER:
                yield Fault(kind, source.choice(list(Boundary)), lasts_s, next(played))
            else:
                yield Fault(kind, orders[kind][number % len(Boundary)], lasts_s)
        number += 1


def _shuffled(source: Random, items: list[T]) -> list[T]:
    source.shuffle(items)
    return items
