"""Fields that follow a rule of the domain, as pydantic types that name the broken field."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from shared.domain.temporal.zones import zone_of
from shared.domain.tenancy import check_name, check_thread
from shared.errors import InvalidInput
from shared.http.dependencies import check_receipt_id
from shared.http.problems import field_error

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(?:[.](\d{1,9}))?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
# A day's margin to the ends of the calendar: there, the clock of another zone has no time to show.
_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_END = datetime(9999, 12, 31, tzinfo=UTC)
_MOST_LABELS = 64
_LONGEST_LABEL = 500


class Wire(BaseModel):
    """A body of the contract: an unknown field is refused, never ignored."""

    model_config = ConfigDict(extra="forbid")


def rule(check: Callable[[str, str], object]) -> AfterValidator:
    """Return a validator that runs a rule of the domain and names this field when it fails."""

    def run(value: str | None) -> str | None:
        if value is None:
            return None
        try:
            checked = check(value, "")
        except InvalidInput as error:
            message = error.errors[0].message if error.errors else error.detail
            raise field_error(error.code, message) from error
        return checked if isinstance(checked, str) else value

    return AfterValidator(run)


def parse_instant(value: str, timezone: str | None, pointer: str) -> tuple[datetime, str]:
    """Return an instant in UTC, and the zone it was given in, for showing.

    RFC 3339 with an offset; without one only beside an explicit `timezone`. Raises InvalidInput
    (`naive_time`, `invalid_time`): nothing is assumed to be UTC.
    """
    found = _RFC3339.fullmatch(value.strip())
    if found is None:
        raise InvalidInput.at(
            pointer, "use RFC 3339, such as 2026-05-05T10:00:00+02:00", "invalid_time"
        )
    day, minute, second, fraction, offset = found.groups()
    if offset is None and timezone is None:
        raise InvalidInput.at(
            pointer,
            "has no offset: add one (…+02:00), or send `timezone` (an IANA name) beside it",
            "naive_time",
        )
    shown_offset = "+00:00" if offset in (None, "Z", "z") else offset
    plain = f"{day}T{minute}{second or ':00'}.{(fraction or '0')[:6].ljust(6, '0')}"
    try:
        if offset is None:
            moment = datetime.fromisoformat(plain).replace(tzinfo=zone_of(timezone or "UTC"))
        else:
            moment = datetime.fromisoformat(plain + shown_offset)
        in_utc = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput.at(pointer, "there is no such instant", "invalid_time") from error
    if not _FIRST <= in_utc < _END:
        raise InvalidInput.at(pointer, "there is no such instant in every zone", "invalid_time")
    zone = timezone or ("UTC" if shown_offset == "+00:00" else shown_offset)
    return in_utc, zone


def _check_zone(value: str, _pointer: str) -> None:
    zone_of(value)


def _check_labels(labels: dict[str, Any]) -> dict[str, Any]:
    if len(labels) > _MOST_LABELS:
        raise field_error("invalid_value", f"at most {_MOST_LABELS} labels")
    for value in labels.values():
        if isinstance(value, dict | list) or len(str(value)) > _LONGEST_LABEL:
            raise field_error("invalid_value", "a label is a string, number or boolean, not long")
    return labels


ThreadId = Annotated[str | None, rule(check_thread)]
NamespaceName = Annotated[str, rule(check_name)]
ReceiptId = Annotated[str, rule(check_receipt_id)]
Zone = Annotated[str | None, Field(max_length=100), rule(_check_zone)]
Labels = Annotated[dict[str, Any], AfterValidator(_check_labels)]
