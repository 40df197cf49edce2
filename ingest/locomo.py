"""LoCoMo files as turns to post: one namespace a conversation, named by its sample_id (D49)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.loaded import LoadedTurn
from shared.domain.locomo import THREAD, is_locomo, locomo_turns

__all__ = ["is_locomo", "loaded_turns"]


def loaded_turns(sample: dict[str, Any]) -> Iterator[LoadedTurn]:
    """Yield a conversation's turns in order; each session's last one ends it.

    Raises InvalidInput (`unknown_transcript`) when a session's date cannot be read.
    """
    for turn in locomo_turns(sample):
        yield LoadedTurn(sample["sample_id"], THREAD, turn.body, turn.ends_session)
