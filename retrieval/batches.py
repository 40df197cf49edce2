"""Every explicit retrieval makes a batch: what was shown, open to assessment until it expires.

Reading writes nothing to the memories themselves; "last retrieved" is read from here (D23).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from retrieval.reader import Reader
from shared.errors import Conflict, NotFound
from shared.ids import Prefix, new_id
from shared.store.batches import (
    BatchItem,
    NewBatch,
    StoredBatch,
    find_latest_batch,
    insert_batch,
)
from shared.store.database import WriteTx


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
    """Store what was shown, in its order; an empty reply makes a batch too."""
    insert_batch(
        tx,
        NewBatch(
            batch_id=batch_id,
            namespace=reader.name,
            thread_id=reader.thread_id,
            key_id=reader.key_id,
            tool=tool,
            query=query,
            request=request or {},
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


def check_open(batch: StoredBatch, reader: Reader) -> None:
    """Raise Conflict when a batch is closed: `batch_recorded`, else `batch_expired`."""
    if batch.state == "recorded":
        raise Conflict(
            "this batch's use is recorded and it is closed; search again for a new batch",
            code="batch_recorded",
        )
    if batch.expires_at <= reader.now:
        raise Conflict("this batch has expired; search again", code="batch_expired")
