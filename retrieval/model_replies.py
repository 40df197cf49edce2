"""What models answered, for administrators: the latest that were taken, all that failed (D50)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from retrieval.reader import Reader
from shared.domain.redaction import redact
from shared.errors import InvalidInput
from shared.http.paging import Page
from shared.store.database import ReadTx
from shared.store.model_calls import ReplyKey, StoredReply, list_replies


class ModelReplyView(BaseModel):
    """One call of a model whose text is still kept."""

    job_id: str
    attempt: int
    call: int = Field(description="Its number within the attempt.")
    step: str
    model: str
    prompt_version: str
    outcome: str = Field(
        description="accepted or partial: taken. malformed, truncated …: failed, kept whole."
    )
    input_tokens: int
    output_tokens: int
    duration_ms: int
    created_at: datetime
    reply: str = Field(description="The whole text, redacted.")


class ModelReplyPage(BaseModel):
    """A page of replies, newest first."""

    items: list[ModelReplyView]
    next_cursor: str | None


def model_replies(tx: ReadTx, reader: Reader, page: Page, *, failed: bool | None) -> dict[str, Any]:
    """Return a page of the namespace's kept replies; `failed` asks for those alone, or the others.

    Of replies that were taken the latest five are kept, of failed ones all.
    """
    before = None if page.after is None else _place(page.after)
    found = list_replies(tx, reader.name, failed=failed, before=before, limit=page.probe)
    return page.answer(found, key=_cursor, view=_view)


def _view(stored: StoredReply) -> ModelReplyView:
    return ModelReplyView(
        job_id=stored.job_id,
        attempt=stored.attempt,
        call=stored.call,
        step=stored.kind,
        model=stored.model,
        prompt_version=stored.prompt_version,
        outcome=stored.outcome,
        input_tokens=stored.input_tokens,
        output_tokens=stored.output_tokens,
        duration_ms=stored.duration_ms,
        created_at=stored.created_at,
        reply=redact(stored.reply),
    )


def _cursor(stored: StoredReply) -> str:
    return f"{stored.created_at.isoformat()} {stored.job_id} {stored.attempt} {stored.call}"


def _place(cursor: str) -> ReplyKey:
    try:
        at, job_id, attempt, call = cursor.split(" ")
        created_at = datetime.fromisoformat(at)
        key = ReplyKey(created_at, job_id, int(attempt), int(call))
    except ValueError as error:
        raise _invalid() from error
    if created_at.tzinfo is None or not 0 <= key.attempt < 2**15 or not 0 <= key.call < 2**15:
        raise _invalid()
    return key


def _invalid() -> InvalidInput:
    return InvalidInput.at(
        "/query/cursor", "give the next_cursor of the page before", "invalid_cursor"
    )
