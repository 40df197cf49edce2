"""Jobs and keys on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field, field_validator

from ingest.schemas.fields import NamespaceName, Wire
from shared.domain.tenancy import Permission
from shared.http.problems import field_error


class JobView(Wire):
    """One row of the ledger."""

    job_id: str
    namespace: str
    kind: str
    subject: str
    queue: str
    priority: int
    state: str
    attempt: int
    max_attempts: int
    reason: str | None
    errors: list[Any]
    rejections: list[Any]
    usage: dict[str, Any]
    result: dict[str, Any]
    prompt_version: str | None
    model: str | None
    created_at: datetime
    scheduled_at: datetime
    rung_at: datetime | None
    started_at: datetime | None
    finalized_at: datetime | None


class JobChanged(JobView):
    """A job that was retried or cancelled by hand."""

    duplicate: bool


class JobPage(Wire):
    """A page of jobs, newest first."""

    items: list[JobView]
    next_cursor: str | None


class KeyIn(Wire):
    """A key to make."""

    label: str = Field(min_length=1, max_length=200)
    permissions: set[Permission] = Field(min_length=1)
    namespaces: list[NamespaceName] | None = Field(
        default=None, min_length=1, max_length=1_000, description="Absent: all of the tenant's."
    )
    expires_at: datetime | None = Field(default=None, description="RFC 3339 with an offset.")

    @field_validator("expires_at")
    @classmethod
    def _is_aware(cls, value: datetime | None) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise field_error("naive_time", "has no offset: add one (…+02:00)")
        return value


class KeyView(Wire):
    """A key without its secret."""

    key_id: str
    label: str
    permissions: list[Permission]
    namespaces: list[str] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    rotated_at: datetime | None = Field(description="When it got its present secret, if anew.")
    previous_until: datetime | None = Field(
        description="Until when the secret before that opens as well."
    )


class KeyMade(KeyView):
    """A new key: `key` is shown this once; a repetition of the request has null there."""

    key: str | None
    duplicate: bool


class RotationIn(Wire):
    """How to rotate a key."""

    model_config = ConfigDict(extra="forbid", strict=True)

    overlap_s: int = Field(
        default=86_400,
        ge=0,
        le=2_592_000,
        description="Seconds for which the secret before still opens; 0: it ends now.",
    )


class KeyPage(Wire):
    """A page of keys, newest first, revoked ones too."""

    items: list[KeyView]
    next_cursor: str | None


class NamespacePage(Wire):
    """A page of namespaces by name."""

    items: list[dict[str, str]]
    next_cursor: str | None
