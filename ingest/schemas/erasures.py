"""Erasure on the wire: what is selected, how it goes, its certificate and what that is worth."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, model_validator

from ingest.schemas.fields import NamespaceName, ReceiptId, Wire
from shared.domain.erasure import LABEL_SIGN, SelectorKind, label_of
from shared.domain.tenancy import is_name
from shared.errors import InvalidInput
from shared.http.problems import field_error
from shared.ids import Prefix, check_id

_IDS = {"turn": Prefix.TURN, "event": Prefix.EVENT}
_MOST_CHECKED = 1_000


class SelectorIn(Wire):
    """Exactly one of these."""

    turn: str | None = Field(default=None, description="A turn's id.")
    thread: str | None = Field(
        default=None, description="A thread's name; `unthreaded` for turns without a thread."
    )
    label: str | None = Field(
        default=None, max_length=700, description="`name=value`: turns that carry this label."
    )
    event: str | None = Field(
        default=None, description="An event's id; its source turn stays, unless that is erased too."
    )
    namespace: NamespaceName | None = Field(
        default=None, description="The namespace of the path, as a whole."
    )

    @model_validator(mode="after")
    def _is_one(self) -> SelectorIn:
        given = self.model_dump(exclude_none=True)
        if len(given) != 1:
            raise field_error("invalid_value", "name exactly one thing to erase")
        ((name, value),) = given.items()
        if name in _IDS:
            try:
                check_id(value, _IDS[name], f"/selector/{name}")
            except InvalidInput as error:
                raise field_error(error.code, f"{name}: {error.errors[0].message}") from error
        if name == "thread" and not is_name(value):
            raise field_error("invalid_name", "thread: this cannot be the name of a thread")
        if name == "label" and label_of(value) is None:
            raise field_error("invalid_value", f"label: write it as name{LABEL_SIGN}value")
        return self

    @property
    def kind(self) -> SelectorKind:
        """What is selected by."""
        return SelectorKind(next(iter(self.model_dump(exclude_none=True))))

    @property
    def value(self) -> str:
        """Which one."""
        return str(next(iter(self.model_dump(exclude_none=True).values())))


class ErasureIn(Wire):
    """What to erase; a dry run only counts."""

    selector: SelectorIn
    dry_run: bool = False


class ErasurePlan(Wire):
    """What an erasure would take, as things stand: rows by table. Nothing was stored."""

    dry_run: Literal[True]
    counts: dict[str, int]


class ErasureStarted(Wire):
    """An erasure to watch. `duplicate`: the same was asked for before, this is that one."""

    erasure_id: str
    job_id: str | None
    state: Literal["running", "done"]
    counts: dict[str, int] = Field(description="What it will take, as things stand.")
    duplicate: bool


class ErasureView(Wire):
    """An erasure: rows that went so far, by table, and the certificate once it is done."""

    erasure_id: str
    namespace: str
    selector_kind: Literal["turn", "thread", "label", "event", "namespace", "retention"]
    state: Literal["running", "done"]
    job_id: str | None
    counts: dict[str, int]
    certificate: dict[str, Any] | None
    created_at: datetime
    finished_at: datetime | None


class VerifyIn(Wire):
    """What to check: ids and receipts of turns that should be gone, or a certificate at hand."""

    ids: list[str] = Field(default_factory=list, max_length=_MOST_CHECKED)
    receipt_ids: list[ReceiptId] = Field(default_factory=list, max_length=_MOST_CHECKED)
    certificate: dict[str, Any] | None = Field(
        default=None, description="Absent: the certificate as it is stored."
    )


class CheckedThingView(Wire):
    """One id or receipt: taken by this erasure, and really not there."""

    name: str
    erased: bool
    absent: bool


class VerifiedView(Wire):
    """`valid`: signed with the tenant's key, its tombstones all stand, each thing gone."""

    valid: bool
    signed: bool
    complete: bool
    ids: list[CheckedThingView]
    receipt_ids: list[CheckedThingView]
