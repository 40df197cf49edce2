"""Where an import stands, told from what is stored and from the jobs that work on it."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from shared.domain.jobs import FINAL_STATES, JobState


class StoredState(StrEnum):
    """What an import's row says: the text is read, candidates are decided, then it is written."""

    EXTRACTING = "extracting"
    PROCESSING = "processing"
    DECIDED = "decided"
    COMMITTED = "committed"
    UNDONE = "undone"


class ImportStatus(StrEnum):
    """Where an import stands for whoever watches it."""

    EXTRACTING = "extracting"
    PROCESSING = "processing"
    AWAITING_CONFIRMATION = "awaiting_confirmation"
    READY = "ready"
    FAILED = "failed"
    COMMITTED = "committed"
    UNDONE = "undone"


def import_status(
    stored: StoredState, *, open_jobs: Collection[JobState], waits_for_person: bool
) -> ImportStatus:
    """Return the status. `open_jobs` are the newest jobs of what is not decided yet.

    While any of them is live, the import goes on; once all have ended and something is still
    undecided, it has failed, until a person starts one of them again.
    """
    match stored:
        case StoredState.EXTRACTING | StoredState.PROCESSING:
            has_ended = all(state in FINAL_STATES for state in open_jobs)
            return ImportStatus.FAILED if has_ended else ImportStatus(stored.value)
        case StoredState.DECIDED:
            waits = waits_for_person
            return ImportStatus.AWAITING_CONFIRMATION if waits else ImportStatus.READY
        case StoredState.COMMITTED | StoredState.UNDONE:
            return ImportStatus(stored.value)
