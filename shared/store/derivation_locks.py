"""The order of all locks, and the locks of derivations, one of a kind at a time per namespace.

Every writer takes what it needs of these in this order, so that none waits for another in a
circle: receipt, projection, extraction, events by id, block's state, thread, namespace, job.
"""

from __future__ import annotations

from shared.store.database import WriteTx
from shared.store.direct import Direct

# Rows are locked FOR NO KEY UPDATE: foreign keys' checks lock the rows they name, from anywhere in
# this order, and must not wait. The namespace's row comes late and is held shortest, for every
# turn counts on it; that is also why derivations lock no row but an advisory name.
_LOCK = Direct("SELECT pg_advisory_xact_lock(hashtextextended(:subject, 0))")


def lock_extraction(tx: WriteTx, namespace: str, *, version: int) -> None:
    """Wait for other extractions of the namespace into one derivation; held until the commit.

    Two blocks that say the same at once would else both find no event to add a source to (D15).
    """
    _LOCK.rows(tx, subject=f"extract:{tx.tenant_id}:{namespace}:{version}")


def await_projection(tx: WriteTx, namespace: str) -> None:
    """Wait for other projections of the namespace; held until the commit.

    The same lock as `lock_projection`, which also counts the revision and is therefore called
    at the end, when the namespace's row is locked shortest.
    """
    _LOCK.rows(tx, subject=f"project:{tx.tenant_id}:{namespace}")
