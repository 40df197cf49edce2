"""One answer of one mode to one question, and what it took; the modes that there are."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

UNKNOWN: Final = "unknown"
_UNKNOWN_TOO: Final = ("not known", "i don't know", "i do not know", "not mentioned")


class Mode(StrEnum):
    """What an answer may rest on; the words of its prompt are the same in all."""

    MEMORY = "memory"
    PLAIN = "plain"
    GOLD = "gold"
    NONE = "none"
    FULL = "full"
    GREP = "grep"


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """Which answer: of a mode, with a system seed, to a question."""

    mode: Mode
    seed: int
    question_id: str


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with its trace.

    `gold` are the labelled messages, `found` those among what was shown. `notes` and `steps`
    hold texts, so they never leave the artefacts. `error` is the code of a model's failure.
    """

    key: AnswerKey
    category: str
    answerable: bool
    answer: str
    error: str | None
    gold: Sequence[str]
    found: Sequence[str]
    notes: Sequence[str]
    steps: Sequence[Mapping[str, Any]] = ()
    tools: Mapping[str, int] = field(default_factory=dict)
    retrievals: int = 0
    is_sufficient: bool = False
    is_unreadable: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    seconds: float = 0.0

    @property
    def is_abstention(self) -> bool:
        """Whether the answer says, in the words asked for, that it is not known."""
        said = self.answer.strip().strip(".\"'`").casefold()
        return said.startswith((UNKNOWN, *_UNKNOWN_TOO))

    @property
    def finds_evidence(self) -> bool:
        """Whether any labelled message was among what was shown."""
        return not set(self.gold).isdisjoint(self.found)

    @property
    def finds_all_evidence(self) -> bool:
        """Whether every labelled message was."""
        return bool(self.gold) and set(self.gold) <= set(self.found)

    def without_text(self) -> dict[str, Any]:
        """Return what may be published: ids and figures; of the answer its length and hash."""
        return {
            "question": self.key.question_id,
            "mode": self.key.mode.value,
            "seed": self.key.seed,
            "category": self.category,
            "answerable": self.answerable,
            "abstained": self.is_abstention,
            "answer_length": len(self.answer),
            "answer_sha256": hashlib.sha256(self.answer.encode()).hexdigest()[:16],
            "error": self.error,
            "found_any": self.finds_evidence,
            "found_all": self.finds_all_evidence,
            "found": sorted(self.found),
            "steps": [_step_without_text(step) for step in self.steps],
            "tools": dict(self.tools),
            "retrievals": self.retrievals,
            "sufficient": self.is_sufficient,
            "unreadable": self.is_unreadable,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "calls": self.calls,
            "seconds": round(self.seconds, 2),
        }


def _step_without_text(step: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a step's action, its verdict and how it counted; never a query or a result."""
    if "unreadable" in step:
        return {"action": "unreadable"}
    kept = {name: step[name] for name in ("action", "verdict", "counted") if name in step}
    if "shown" in step:
        kept["shown"] = len(step["shown"])
    if "told" in step:
        kept["advisories"] = len(step["told"])
    return kept
