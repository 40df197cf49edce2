"""A namespace's policy on the wire: what may be set, and what is answered."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from ingest.schemas.fields import Wire
from shared.http.problems import field_error


class StagesIn(Wire):
    """Which stages after the summary run."""

    model_config = ConfigDict(extra="forbid", strict=True)

    extract: bool | None = None
    project: bool | None = None
    embed: bool | None = None


class PolicyIn(Wire):
    """The fields of a policy; one that is absent or null follows the tenant's default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    block_turn_size: int | None = Field(default=None, ge=1, le=1_000, description="Turns a block.")
    block_decay_lambda: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="Above 0.40 is not recommended."
    )
    ingest_subagents: bool | None = None
    language: str | None = Field(default=None, min_length=2, max_length=35)
    redaction: Literal["keep_source", "redact_source"] | None = Field(
        default=None, description="Whether L5 keeps what was sent, or the redacted text."
    )
    retention_days: int | None = Field(default=None, ge=1, le=36_500)
    provider: str | None = Field(default=None, min_length=1, max_length=100)
    model: str | None = Field(default=None, min_length=1, max_length=200)
    max_output_tokens: int | None = Field(default=None, ge=256, le=1_000_000)
    token_budget: int | None = Field(default=None, ge=0, le=10**15)
    stages: StagesIn | None = None

    @model_validator(mode="after")
    def _model_with_provider(self) -> Self:
        given = {"provider", "model"} & self.model_fields_set
        if len(given) == 1 or (self.provider is None) != (self.model is None):
            raise field_error("invalid_value", "give provider and model together, or neither")
        return self


class PolicyPatch(PolicyIn):
    """A change of a policy: a field that is absent stays, null follows the default again."""

    apply_suggested_lambda: bool = Field(
        default=False,
        description="With a new block_turn_size: also set the λ that keeps decay per turn.",
    )

    @model_validator(mode="after")
    def _one_source_of_lambda(self) -> Self:
        if self.apply_suggested_lambda and self.block_decay_lambda is not None:
            raise field_error(
                "invalid_value",
                "give block_decay_lambda, or apply_suggested_lambda, not both",
            )
        return self


class DefaultPolicyPatch(PolicyPatch):
    """A change of the tenant's default policy; null follows the settings again."""

    tenant_token_budget: int | None = Field(
        default=None,
        ge=0,
        le=10**15,
        description="Tokens a UTC day that all namespaces together may cost.",
    )
    apply_to_existing: bool = Field(
        default=False,
        description="Also write the fields given here to every namespace, over its own; without "
        "any field, all that the default says.",
    )


class DefaultPolicyView(Wire):
    """The policy with which namespaces begin, and what of it the tenant itself sets."""

    policy: dict[str, Any] = Field(description="The settings with the tenant's own laid over.")
    overrides: dict[str, Any] = Field(description="What the tenant itself sets.")
    warnings: list[str]


class DefaultPolicyPatched(DefaultPolicyView):
    """A changed default; the suggestion is null unless the block size changed."""

    suggested_block_decay_lambda: float | None
    suggested_lambda_applied: bool
    namespaces_changed: int = Field(description="Namespaces whose own policy was written.")
    sealed_block_ids: list[str] = Field(description="Blocks that a smaller size sealed at once.")


class NamespaceView(Wire):
    """A namespace: the policy that holds, what of it is its own, and its counters."""

    namespace: str
    policy: dict[str, Any] = Field(description="The policy that holds: all layers together.")
    overrides: dict[str, Any] = Field(description="What this namespace itself sets.")
    turn_count: int = Field(description="The clock of event weights.")
    block_count: int
    revision: int
    created_at: datetime
    warnings: list[str]


class NamespaceWithCounts(NamespaceView):
    """A namespace with how far it has come along the walk."""

    counts: dict[str, Any]


class NamespacePatched(NamespaceView):
    """A changed namespace; the suggestion is null unless the block size changed."""

    suggested_block_decay_lambda: float | None
    suggested_lambda_applied: bool
    sealed_block_ids: list[str] = Field(description="Blocks that a smaller size sealed at once.")
