"""What is not derived yet, and why a reply is empty: told apart, so that no agent mistakes
"not processed yet" for "no such memory"."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.reader import Reader
from shared.store.block_views import backlog
from shared.store.database import ReadTx

NO_DATA = "no_data"
NO_MATCH = "no_match"
FILTERED_OUT = "filtered_out"
STILL_PROCESSING = "still_processing"


@dataclass(frozen=True, slots=True)
class Pending:
    """Blocks whose evidence is not derived yet; the age is the oldest one's, null without any."""

    blocks: int
    oldest_age_s: int | None


def pending(tx: ReadTx, reader: Reader, *, for_graph: bool = False) -> Pending:
    """Return what of the namespace is still to be derived."""
    waiting = backlog(tx, reader.name, for_graph=for_graph)
    if waiting.oldest_sealed_at is None:
        return Pending(0, None)
    age = (reader.now - waiting.oldest_sealed_at).total_seconds()
    return Pending(waiting.blocks, max(0, round(age)))


def empty_reason(
    reader: Reader, waiting: Pending, *, is_empty: bool, is_filtered: bool, has_any: bool
) -> str | None:
    """Return why a reply is empty, None when it is not.

    `is_filtered`: something would match without the filters. `has_any`: there is something
    to search at all.
    """
    if not is_empty:
        return None
    if is_filtered:
        return FILTERED_OUT
    if waiting.blocks > 0:
        return STILL_PROCESSING
    return NO_MATCH if has_any or reader.namespace.turn_count > 0 else NO_DATA


def next_step(reason: str | None, *, raw_helps: bool = True) -> str | None:
    """Return what an agent may do about an empty reply."""
    raw = " Search raw memory: it holds every message at once." if raw_helps else ""
    steps = {
        NO_DATA: "Nothing has been stored in this namespace yet.",
        NO_MATCH: "Nothing matches: use other words." + raw,
        FILTERED_OUT: "Something exists, but the filters exclude it: loosen or drop a filter.",
        STILL_PROCESSING: "Some blocks are still being processed: ask again later." + raw,
    }
    return None if reason is None else steps[reason]
