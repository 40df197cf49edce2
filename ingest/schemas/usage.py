"""Usage and the audit log on the wire."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pydantic import ConfigDict, Field

from ingest.schemas.fields import Wire


class Tokens(Wire):
    """What some calls cost."""

    calls: int
    failed_calls: int = Field(description="Calls whose reply could not be taken.")
    input_tokens: int
    output_tokens: int


class UsageRow(Tokens):
    """What the calls of one namespace, step and model cost on one UTC day."""

    day: date
    namespace: str
    step: str
    model: str


class BudgetToday(Wire):
    """Today's spend against the budgets that hold; null where there is none, or no right to it."""

    day: date
    namespace_spent: int | None
    namespace_budget: int | None
    tenant_spent: int | None
    tenant_budget: int | None
    stopped_by: str | None = Field(description="`namespace` or `tenant` while calls are stopped.")
    resumes_at: datetime | None


class LimitsNow(Wire):
    """The limits of the tenant, null where there is none, and what is used."""

    requests_per_s: float | None
    turns_per_day: int | None
    tokens_per_day: int | None
    storage_bytes: int | None
    jobs_in_flight: int | None
    turns_today: int = Field(description="Turns stored in this UTC day.")
    stored_bytes: int = Field(description="Bytes of the stored messages.")
    jobs_in_flight_now: int


class UsagePage(Wire):
    """A page of usage, newest day first."""

    model_config = ConfigDict(populate_by_name=True)

    first: date = Field(alias="from")
    last: date = Field(alias="to")
    total: Tokens
    today: BudgetToday
    limits: LimitsNow | None = Field(description="Null for a key limited to namespaces.")
    items: list[UsageRow]
    next_cursor: str | None


class AuditView(Wire):
    """One entry of the audit log."""

    audit_id: str
    created_at: datetime
    action: str
    namespace: str | None
    key_id: str | None
    subject: str | None
    detail: dict[str, Any]


class AuditPage(Wire):
    """A page of the audit log, newest first."""

    items: list[AuditView]
    next_cursor: str | None
