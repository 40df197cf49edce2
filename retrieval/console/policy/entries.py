"""What a policy can say: each entry with its words, its kind of field, and its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """How an entry is written."""

    WHOLE = "whole"
    DECIMAL = "decimal"
    TEXT = "text"
    CHOICE = "choice"
    SWITCH = "switch"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `none` says what an empty field means, where it may be empty."""

    name: str
    title: str
    said: str
    kind: Kind
    unit: str = ""
    none: str = ""
    low: float | None = None
    high: float | None = None
    step: float = 1
    choices: Mapping[str, str] = field(default_factory=dict)

    def read(self, policy: Mapping[str, Any]) -> Any:
        """Return the entry's value in a policy; stages stand one level deeper."""
        stage = self.name.removeprefix("stages.")
        return policy.get(self.name) if stage == self.name else policy["stages"].get(stage)


BLOCKS: tuple[Entry, ...] = (
    Entry(
        "block_turn_size",
        "Block size",
        "A conversation is sealed into blocks of this many turns.",
        Kind.WHOLE,
        unit="turns",
        low=1,
        high=1_000,
    ),
    Entry(
        "block_decay_lambda",
        "Decay λ",
        "How fast a block fades as newer ones follow; above 0.40 is steep.",
        Kind.DECIMAL,
        low=0,
        high=10,
        step=0.05,
    ),
)
PRIVACY: tuple[Entry, ...] = (
    Entry(
        "redaction",
        "Secrets in sources",
        "Searches, models and readers always see the redacted text.",
        Kind.CHOICE,
        choices={
            "keep_source": "Kept in the source alone",
            "redact_source": "Taken out of the source too",
        },
    ),
    Entry(
        "retention_days",
        "Retention",
        "Older turns are erased with all that was derived from them.",
        Kind.WHOLE,
        unit="days",
        none="kept for good",
        low=1,
        high=36_500,
    ),
    Entry(
        "ingest_subagents",
        "Sub-agents' turns are stored",
        "They can read in either case.",
        Kind.SWITCH,
    ),
    Entry(
        "language",
        "Language",
        "Of summaries and events, such as en or zh.",
        Kind.TEXT,
        none="as the conversation",
        high=35,
    ),
)
MODELS: tuple[Entry, ...] = (
    Entry(
        "provider",
        "Provider",
        "Given together with the model, or not at all.",
        Kind.TEXT,
        none="as the service is set",
        high=100,
    ),
    Entry(
        "model", "Model", "Its name at the provider.", Kind.TEXT, none="the provider's", high=200
    ),
    Entry(
        "max_output_tokens",
        "Longest reply",
        "What one model call may write.",
        Kind.WHOLE,
        unit="tokens",
        none="the step's own cap",
        low=256,
        high=1_000_000,
    ),
    Entry(
        "token_budget",
        "Budget a day",
        "Tokens that model calls may cost in a UTC day; then they wait, and nothing is lost.",
        Kind.WHOLE,
        unit="tokens",
        none="no limit",
        low=0,
        high=10**15,
    ),
)
TENANT_BUDGET = Entry(
    "tenant_token_budget",
    "Budget a day, all namespaces",
    "The same for all namespaces together.",
    Kind.WHOLE,
    unit="tokens",
    none="no limit",
    low=0,
    high=10**15,
)
STAGES: tuple[Entry, ...] = (
    Entry("stages.extract", "Events are extracted", "What happened, with quotes.", Kind.SWITCH),
    Entry("stages.project", "The graph is kept", "Who and what is known.", Kind.SWITCH),
    Entry("stages.embed", "Vectors are made", "To find by meaning as well as words.", Kind.SWITCH),
)
