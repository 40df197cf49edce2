"""What a model can do about a failed call, by the problem's code: it reads no reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SEARCH_AGAIN = "Search again: the new reply is a new batch."
_REMEDIES: Mapping[str, str] = {
    "batch_expired": _SEARCH_AGAIN,
    "batch_recorded": _SEARCH_AGAIN,
    "block_pending": "Search raw messages instead: they hold the block's text already.",
    "busy": "Wait a moment, then call again.",
    "fixed_by_connection": "Leave the argument out: this connection has chosen it.",
    "forbidden": "This key may not do that. Go on without it and say so in your answer.",
    "internal_error": "Call again once; if it fails again, answer without it and say so.",
    "not_adopted": "Assess the batch as sufficient, citing these refs, or leave them out.",
    "not_assessed": "Call memory_assess for this batch first.",
    "not_found": "Use ids and refs of replies you were given, and the namespace you were told.",
    "rate_limited": "Wait for retry_after seconds, then call again.",
    "receipt_conflict": "This use was recorded with other content; leave it as it is.",
    "result_too_large": "Ask for less: a lower limit or level, or a narrower query.",
    "unauthorized": "The host's key is not valid; tell the user that memory is out of reach.",
    "unavailable": "Wait a moment, then call again; if it fails, answer without it and say so.",
    "unknown_batch": "Use a batch_id that is named here, or leave it out for the latest.",
    "unknown_tool": "Call a tool that is named here.",
}
_OTHERWISE = "Correct what `detail` and `errors` name, then call again."


def with_remedy(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem document with `remedy`: what a model may do about it, in a sentence."""
    return {**problem, "remedy": _REMEDIES.get(problem.get("code", ""), _OTHERWISE)}
