"""A turn read from a file, ready to be posted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LoadedTurn:
    """The body of one turn, where it goes, and whether a session of the file ends with it."""

    namespace: str
    thread_id: str | None
    body: Mapping[str, Any]
    ends_session: bool
