"""A batch re-derivation as asked for: which stages, of what, by which model (D19).

A stage takes those after it along, since what rests on it would else be stale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from shared.domain.jobs import JobKind

ORDER: Final = (JobKind.SUMMARIZE, JobKind.EXTRACT, JobKind.PROJECT)
CARRIED: Final = "carried"
"""In a job's payload: the block lies outside of what is derived anew, its events stay."""


@dataclass(frozen=True, slots=True)
class Reprocess:
    """What was asked for. `shadow` false: switch as soon as the version is whole.

    `start` and `end` bound the blocks derived anew by when they ended, both inclusive; the
    others' events are carried over.
    """

    stages: tuple[JobKind, ...]
    shadow: bool = True
    provider: str | None = None
    model: str | None = None
    start: datetime | None = None
    end: datetime | None = None

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Reprocess:
        """Read what `as_request` wrote."""
        bounds = {name: request.get(name) for name in ("start", "end")}
        return cls(
            stages=tuple(JobKind(one) for one in request.get("stages", ())),
            shadow=bool(request.get("shadow", True)),
            provider=request.get("provider"),
            model=request.get("model"),
            **{name: datetime.fromisoformat(at) for name, at in bounds.items() if at},
        )

    def as_request(self) -> dict[str, Any]:
        """Return plain values to keep with the version."""
        return {
            "stages": [one.value for one in self.stages],
            "shadow": self.shadow,
            "provider": self.provider,
            "model": self.model,
            "start": None if self.start is None else self.start.isoformat(),
            "end": None if self.end is None else self.end.isoformat(),
        }

    def payload(self, graph_version_id: str, derivation_version: int) -> dict[str, Any]:
        """Return what a job must know to work for the version."""
        aim: dict[str, Any] = {
            "graph_version_id": graph_version_id,
            "derivation_version": derivation_version,
        }
        return aim | ({"provider": self.provider, "model": self.model} if self.provider else {})

    def covers(self, ended_at: datetime) -> bool:
        """Tell whether a block that ended then is derived anew."""
        return (self.start is None or self.start <= ended_at) and (
            self.end is None or ended_at <= self.end
        )


def stages_from(asked: Sequence[JobKind]) -> tuple[JobKind, ...]:
    """Return the earliest stage asked for and all that follow it. Raises ValueError for none."""
    first = min(ORDER.index(one) for one in asked)
    return ORDER[first:]


def first_kind(stages: Sequence[JobKind]) -> JobKind:
    """Return the step with which each block begins."""
    return stages[0]
