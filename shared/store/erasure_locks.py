"""Lock what an erasure changes, in the order that `derivation_locks` names for every writer."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, text
from sqlalchemy.types import ARRAY, Text

from shared.store.database import WriteTx
from shared.store.derivation_locks import await_projection, lock_extraction
from shared.store.event_writes import lock_events

_VERSIONS = text(
    """
    SELECT derivation_version FROM namespaces
    WHERE tenant_id = :tenant_id AND namespace = :namespace
    UNION SELECT derivation_version FROM graph_versions
    WHERE tenant_id = :tenant_id AND namespace = :namespace ORDER BY 1
    """
)
_STATES = text(
    """
    SELECT FROM block_states WHERE tenant_id = :tenant_id AND block_id = ANY(:ids)
    ORDER BY block_id FOR NO KEY UPDATE
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))
_THREADS = text(
    """
    SELECT FROM threads
    WHERE tenant_id = :tenant_id AND namespace = :namespace AND thread_id = ANY(:ids)
    ORDER BY thread_id FOR NO KEY UPDATE
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))


def await_derivations(tx: WriteTx, namespace: str) -> None:
    """Wait for whatever stores events or graph of the namespace; held until the commit."""
    await_projection(tx, namespace)
    place = {"tenant_id": tx.tenant_id, "namespace": namespace}
    for version in tx.connection.execute(_VERSIONS, place).scalars().all():
        lock_extraction(tx, namespace, version=version)


def lock_rows(
    tx: WriteTx,
    namespace: str,
    *,
    event_ids: Sequence[str],
    block_ids: Sequence[str],
    thread_ids: Sequence[str],
) -> None:
    """Lock events, blocks' states and threads that an erasure changes."""
    if event_ids:
        lock_events(tx, event_ids)
    place = {"tenant_id": tx.tenant_id, "namespace": namespace}
    tx.connection.execute(_STATES, place | {"ids": list(block_ids)})
    tx.connection.execute(_THREADS, place | {"ids": list(thread_ids)})
