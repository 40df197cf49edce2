"""What went wrong in an attempt, as the ledger names it: class and code, never a word said."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Final

from shared.domain.jobs import Failure, FailureClass
from shared.domain.model_json import TruncatedReply, UnreadableReply
from shared.logs import get_logger
from workers.models.port import ModelError

OUTPUT_TRUNCATED: Final = "output_truncated"
_HERE = Path(__file__).resolve().parents[1]
_log = get_logger("workers")


def failure_of_model(error: ModelError) -> Failure:
    """Return what a model error says of itself."""
    return Failure(error.failure_class, error.code, error.detail, error.retry_after_s)


def failure_of_reply(error: UnreadableReply) -> Failure:
    """Return the failure of a reply that could not be read, cut off or not."""
    if isinstance(error, TruncatedReply):
        return Failure(FailureClass.TRUNCATED, OUTPUT_TRUNCATED, error.detail)
    return Failure(FailureClass.MALFORMED, FailureClass.MALFORMED.value, error.detail)


def failure_unexpected(error: Exception) -> Failure:
    """Name the type and the place, never the message, which may hold what somebody said."""
    frames = traceback.extract_tb(error.__traceback__)
    folders = tuple(f"{_HERE / name}{os.sep}" for name in ("workers", "shared"))
    ours = [frame for frame in frames if frame.filename.startswith(folders)]
    place = ""
    if ours:
        place = f" at {Path(ours[-1].filename).relative_to(_HERE)}:{ours[-1].lineno}"
    _log.error("step_broke", error=type(error).__name__, place=place.strip())
    return Failure(FailureClass.INTERNAL, "internal", f"{type(error).__name__}{place}")
