"""What a person decides about candidates before an import is confirmed; kept until it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ACTIONS: Mapping[str, str] = {
    "ADD": "Add it",
    "MERGE": "Merge it with",
    "SUPERSEDE": "Let it replace",
    "CONFLICT": "Keep both, in conflict with",
    "IGNORE": "Leave it out",
}
DONE: Mapping[str, str] = {
    "ADD": "added",
    "MERGE": "merged",
    "SUPERSEDE": "replacing another",
    "CONFLICT": "in conflict",
    "IGNORE": "left out",
}
NEED_TARGET = frozenset({"MERGE", "SUPERSEDE", "CONFLICT"})
Candidate = Mapping[str, Any]


@dataclass(slots=True)
class Decision:
    """One person's decision about one candidate."""

    action: str
    targets: list[str] = field(default_factory=list)
    title: str = ""
    summary: str = ""

    @property
    def is_whole(self) -> bool:
        """Tell whether it can be sent: what is about an existing memory names one."""
        return bool(self.targets) or self.action not in NEED_TARGET


class Decisions:
    """The decisions of one import, by candidate; what a person left alone stays as proposed."""

    def __init__(self) -> None:
        self._made: dict[int, Decision] = {}
        self.ignore_unanswered = False

    def of(self, candidate: Candidate) -> Decision | None:
        """Return what a person decided about a candidate, None before that."""
        return self._made.get(int(candidate["index"]))

    def decide(self, candidate: Candidate, action: str | None) -> Decision | None:
        """Decide for an action, with the proposal's own targets; None takes the decision back."""
        index = int(candidate["index"])
        if action is None:
            self._made.pop(index, None)
            return None
        proposed = candidate["decision"] or {}
        merged = proposed.get("merged") or candidate
        targets: list[str] = []
        if action in NEED_TARGET:
            known = [match["event_id"] for match in candidate["matches"]]
            targets = [one for one in proposed.get("existing_event_ids", ()) if one in known]
            targets = targets or known[:1]
        made = Decision(action, targets, str(merged["title"] or ""), str(merged["summary"] or ""))
        self._made[index] = made
        return made

    def unanswered(self, candidates: Sequence[Candidate]) -> int:
        """Count the candidates that wait for a person and have no decision yet."""
        return sum(
            bool(one["requires_confirmation"]) and int(one["index"]) not in self._made
            for one in candidates
        )

    def actions(self, candidates: Sequence[Candidate]) -> dict[str, int]:
        """Count what would be done now, by action; what waits is not among it."""
        counts: dict[str, int] = {}
        for one in candidates:
            made = self.of(one)
            if made is None and (one["requires_confirmation"] or one["decision"] is None):
                continue
            action = made.action if made else str(one["decision"]["action"])
            counts[action] = counts.get(action, 0) + 1
        return counts

    def body(self) -> dict[str, Any]:
        """Return the confirmation as the API takes it."""
        sent: list[dict[str, Any]] = []
        for index, made in sorted(self._made.items()):
            one: dict[str, Any] = {"candidate_index": index, "action": made.action}
            if made.action in NEED_TARGET:
                one["existing_event_ids"] = list(made.targets)
            if made.action == "MERGE" and made.title.strip() and made.summary.strip():
                one["merged"] = {"title": made.title, "summary": made.summary}
            sent.append(one)
        return {"decisions": sent, "ignore_unanswered": self.ignore_unanswered}


def summed_up(actions: Mapping[str, int]) -> str:
    """Write how many candidates meet with which end: 3 added, 1 left out."""
    return ", ".join(f"{actions[name]} {said}" for name, said in DONE.items() if actions.get(name))
