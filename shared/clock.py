"""The one owner of wall-clock time: everything else is handed a Clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the present instant, aware and in UTC."""

    def now(self) -> datetime:
        """Return the present instant."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(UTC)


@dataclass(slots=True)
class FixedClock:
    """A clock that stands where it was put; for tests and replays."""

    instant: datetime

    def now(self) -> datetime:
        """Return the instant it was put at."""
        return self.instant
