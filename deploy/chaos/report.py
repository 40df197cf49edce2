"""What a run of chaos did and found: as JSON for machines, as markdown for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from deploy.chaos.plan import Boundary, Fault

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault that was carried out; `is_on_time` when work stood at its boundary just before."""

    fault: Fault
    is_on_time: bool
    at_s: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """One promise after the run, and what breaks it."""

    name: str
    promise: str
    violations: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Tell whether nothing breaks it."""
        return not self.violations


@dataclass(slots=True)
class Report:
    """All of a run; times are in seconds."""

    seed: int
    injected: list[Injected] = field(default_factory=list)
    missed: Counter[str] = field(default_factory=Counter)
    verdicts: list[Verdict] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)
    back_after_s: dict[str, float] = field(default_factory=dict)
    jobs: dict[str, int] = field(default_factory=dict)
    error_codes: dict[str, int] = field(default_factory=dict)
    is_whole: bool = False
    """Whether every promise was looked at; a run that broke off before has proved nothing."""

    @property
    def is_passed(self) -> bool:
        """Tell whether the run came to its end and every promise holds."""
        return self.is_whole and all(verdict.holds for verdict in self.verdicts)

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "passed": self.is_passed,
            "seed": self.seed,
            "faults": len(self.injected),
            "by_kind": dict(Counter(one.fault.kind.value for one in self.injected)),
            "by_boundary": dict(Counter(one.fault.boundary.value for one in self.injected)),
            "missed": dict(self.missed),
            "numbers": self.numbers,
            "back_after_s": self.back_after_s,
            "jobs": self.jobs,
            "error_codes": self.error_codes,
            "invariants": [asdict(one) | {"holds": one.holds} for one in self.verdicts],
            "injected": [
                asdict(one.fault) | {"is_on_time": one.is_on_time, "at_s": one.at_s}
                for one in self.injected
            ],
        }

    def as_markdown(self) -> str:
        """Return the tables of the report; a number in the first is `on time/all`."""
        blocks = [
            _table(
                ("fault", *(boundary.value for boundary in Boundary), "all"), self._fault_rows()
            ),
            _table(("number", "value"), ((k, f"{v:g}") for k, v in self.numbers.items())),
            _table(("job state", "jobs"), _counts(self.jobs)),
            _table(("error of an attempt", "times"), _counts(self.error_codes)),
            _table(
                ("promise", "holds"),
                ((one.promise, "yes" if one.holds else "NO") for one in self.verdicts),
            ),
        ]
        for verdict in self.verdicts:
            blocks += [f"- {verdict.name}: {line}" for line in verdict.violations[:_SHOWN]]
        end = "every promise holds" if self.is_passed else "a promise is BROKEN"
        if not self.is_whole:
            end = "it BROKE OFF before every promise was looked at"
        return "\n\n".join([*blocks, f"{len(self.injected)} faults, seed {self.seed}: {end}."])

    def _fault_rows(self) -> Iterable[tuple[str, ...]]:
        all_of = Counter((one.fault.kind, one.fault.boundary) for one in self.injected)
        on_time = Counter(
            (one.fault.kind, one.fault.boundary) for one in self.injected if one.is_on_time
        )
        for kind in dict.fromkeys(sorted(one.fault.kind for one in self.injected)):
            pairs = [(kind, boundary) for boundary in Boundary]
            cells = [f"{on_time[pair]}/{all_of[pair]}" if all_of[pair] else "" for pair in pairs]
            yield (kind.value, *cells, str(sum(all_of[pair] for pair in pairs)))


def _counts(counts: Mapping[str, int]) -> Iterable[tuple[str, str]]:
    return ((name, str(number)) for name, number in sorted(counts.items()))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
