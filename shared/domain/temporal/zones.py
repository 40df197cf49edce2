"""Zones as they come with messages: an IANA name, a fixed offset such as "+02:00", or UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.errors import InvalidInput

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)


@lru_cache(maxsize=1024)
def zone_of(name: str) -> tzinfo:
    """Return the zone of that name.

    Raises InvalidInput (`unknown_zone`) for a name that is neither an IANA zone nor an
    offset within a day of UTC.
    """
    wanted = name.strip()
    if wanted.upper() in ("", "Z", "UTC", "GMT"):
        return UTC
    offset = _OFFSET.fullmatch(wanted)
    if offset:
        hours, minutes = int(offset[2]), int(offset[3] or 0)
        if hours < 24 and minutes < 60:
            shift = timedelta(hours=hours, minutes=minutes)
            return timezone(-shift if offset[1] == "-" else shift)
    try:
        return ZoneInfo(wanted)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput.at(
            "/timezone", "give an IANA name or an offset such as +02:00", "unknown_zone"
        ) from error


def local(at: datetime, zone: str) -> datetime:
    """Return an aware instant as the clock of that zone showed it."""
    if at.tzinfo is None:
        raise InvalidInput.at("/occurred_at", "give the time with an offset", "naive_time")
    return at.astimezone(zone_of(zone))


def known_zone(name: str) -> tzinfo:
    """Return the zone of a stored name, UTC where the name says nothing."""
    try:
        return zone_of(name)
    except InvalidInput:
        return UTC
