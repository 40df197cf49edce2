"""Every explicit retrieval makes a batch: what was shown, open to assessment until it expires.

Reading writes nothing to the memories themselves; "last retrieved" is read from here (D23).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from retrieval.reader import Reader
from shared.domain.redaction import redact, redact_value
from shared.errors import Conflict, NotFound
from shared.ids import Prefix, new_id
from shared.store.batches import (
    BatchItem,
    NewBatch,
    StoredBatch,
    find_latest_batch,
    get_batch,
    insert_batch,
    recent_batches,
)
from shared.store.database import WriteTx

RECORDED = "recorded"
_NAMED = 10


def new_batch_id() -> str:
    """Return the id a reply can name before its batch is stored."""
    return new_id(Prefix.BATCH)


def record_batch(
    tx: WriteTx,
    reader: Reader,
    *,
    batch_id: str,
    tool: str,
    items: Sequence[BatchItem],
    query: str | None = None,
    request: Mapping[str, Any] | None = None,
) -> None:
    """Store what was shown, in its order; an empty reply makes a batch too.

    Of what was asked, the redacted text is kept: batches are read as a transcript (D27, D35).
    """
    insert_batch(
        tx,
        NewBatch(
            batch_id=batch_id,
            namespace=reader.name,
            thread_id=reader.thread_id,
            key_id=reader.key_id,
            tool=tool,
            query=None if query is None else redact(query),
            request=redact_value(dict(request or {})),
            expires_at=reader.now + timedelta(seconds=reader.batch_ttl_s),
            items=tuple(items),
        ),
    )


def latest_batch(tx: WriteTx, reader: Reader) -> StoredBatch:
    """Return, locked, the batch that a tool call without a `batch_id` means (D32).

    That is the latest of the reader's thread, or without a thread the latest of its key in this
    namespace, whatever its state. NotFound before the first one.
    """
    found = find_latest_batch(
        tx, reader.name, thread_id=reader.thread_id, key_id=reader.key_id, lock=True
    )
    if found is None:
        raise NotFound("there is no batch yet; search or expand first")
    return found


def named_batch(tx: WriteTx, reader: Reader, batch_id: str) -> StoredBatch:
    """Return, locked, the batch of this id in the reader's namespace.

    NotFound (`unknown_batch`) names the batches of the reader's own thread or key instead, the
    same whether the id is another tenant's, another namespace's or nobody's.
    """
    try:
        batch = get_batch(tx, batch_id, lock=True)
    except NotFound:
        batch = None
    if batch is None or batch.namespace != reader.name:
        raise NotFound(_what_there_is(tx, reader), code="unknown_batch")
    return batch


def _what_there_is(tx: WriteTx, reader: Reader) -> str:
    known = recent_batches(
        tx, reader.name, thread_id=reader.thread_id, key_id=reader.key_id, limit=_NAMED
    )
    if not known:
        return "no such batch here, and there is none yet; search or expand first"
    unresolved = [b for b in known if b.state != RECORDED and b.expires_at > reader.now]
    return (
        f"no such batch here; latest: {known[0].batch_id}; "
        f"unresolved: {_ids(unresolved) or 'none'}; available: {_ids(known)}"
    )


def _ids(known: Sequence[StoredBatch]) -> str:
    return ", ".join(batch.batch_id for batch in known)


def check_open(batch: StoredBatch, reader: Reader) -> None:
    """Raise Conflict when a batch is closed: `batch_recorded`, else `batch_expired`."""
    if batch.state == RECORDED:
        raise Conflict(
            "this batch's use is recorded and it is closed; search again for a new batch",
            code="batch_recorded",
        )
    if batch.expires_at <= reader.now:
        raise Conflict("this batch has expired; search again", code="batch_expired")
