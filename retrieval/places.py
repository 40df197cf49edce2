"""Where an item stands in a list by time: its instant and its id, as text for a cursor."""

from __future__ import annotations

from datetime import datetime

from shared.errors import InvalidInput


def written_place(place: tuple[datetime, str]) -> str:
    """Return a place as text."""
    moment, name = place
    return f"{moment.isoformat()}|{name}"


def read_place(text: str) -> tuple[datetime, str]:
    """Return the place of a text; InvalidInput (`invalid_cursor`) when it is none."""
    at, _, name = text.partition("|")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise _invalid() from error
    if moment.tzinfo is None or not name:
        raise _invalid()
    return moment, name


def _invalid() -> InvalidInput:
    return InvalidInput.at(
        "/query/cursor", "give the next_cursor of the page before", "invalid_cursor"
    )
