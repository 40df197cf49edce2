"""Exports and restores on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from ingest.schemas.fields import Wire


class ExportStarted(Wire):
    """An export to watch."""

    export_id: str
    job_id: str | None
    state: Literal["running"]
    duplicate: bool


class ExportView(Wire):
    """An export: what its bundle holds, and where and until when it can be fetched."""

    export_id: str
    namespace: str
    state: Literal["running", "done", "expired", "withdrawn"] = Field(
        description="`withdrawn`: something that the bundle held was erased since."
    )
    job_id: str | None
    counts: dict[str, int] = Field(description="Records of the bundle, by kind.")
    size_bytes: int
    sha256: str | None = Field(description="Of the file, as it is fetched.")
    bundle: str | None = Field(description="The path to fetch it from, while it can be.")
    created_at: datetime
    finished_at: datetime | None
    expires_at: datetime | None


class Restored(Wire):
    """What was restored. `ids`: kept as they were, or new since the tenant had some of them."""

    namespace: str
    counts: dict[str, int]
    ids: Literal["kept", "new"]
    duplicate: bool
