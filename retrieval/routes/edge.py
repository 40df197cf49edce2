"""What every handler starts from: one transaction of the caller, and a Reader of one namespace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from retrieval.reader import Reader
from shared.clock import Clock
from shared.domain.tenancy import Caller, Permission, check_name
from shared.embeddings.asking import QueryVector, query_embedder_of
from shared.errors import NotFound
from shared.http.dependencies import ClockOf, DatabaseOf, SettingsOf, caller, reach
from shared.settings import Settings
from shared.store.batches import StoredBatch, get_batch
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.namespaces import get_namespace, policy_defaults


@dataclass(frozen=True, slots=True)
class Edge:
    """One request of one caller; each method opens the one transaction of its use case."""

    caller: Caller
    database: Database
    clock: Clock
    settings: Settings

    @contextmanager
    def reading(
        self, ns: str, thread_id: str | None = None, query: str | None = None
    ) -> Iterator[tuple[ReadTx, Reader]]:
        """Open a read-only transaction on a namespace; NotFound when it is not to be had.

        What `query` means is worked out before it begins, where vectors are on.
        """
        namespace = reach(self.caller, ns)
        meaning = self._meaning(query)
        with self.database.read(self.caller.tenant_id) as tx:
            yield tx, self._reader(tx, namespace, thread_id, meaning)

    @contextmanager
    def writing(
        self, ns: str, thread_id: str | None = None, query: str | None = None
    ) -> Iterator[tuple[WriteTx, Reader]]:
        """Open a transaction on a namespace that may store a batch or a lift; else as `reading`."""
        namespace = reach(self.caller, ns)
        meaning = self._meaning(query)
        with self.database.write(self.caller.tenant_id) as tx:
            yield tx, self._reader(tx, namespace, thread_id, meaning)

    @contextmanager
    def judging(self, batch_id: str) -> Iterator[tuple[WriteTx, Reader, StoredBatch]]:
        """Open a transaction on a batch, locked; NotFound when its namespace is out of reach."""
        with self.database.write(self.caller.tenant_id) as tx:
            batch = get_batch(tx, batch_id, lock=True)
            if not self.caller.reaches(batch.namespace):
                raise NotFound("no such batch")
            yield tx, self._reader(tx, batch.namespace, batch.thread_id), batch

    def _meaning(self, query: str | None) -> QueryVector | None:
        return None if query is None else query_embedder_of(self.settings).vector_of(query)

    def _reader(
        self,
        tx: ReadTx,
        namespace: str,
        thread_id: str | None,
        meaning: QueryVector | None = None,
    ) -> Reader:
        if thread_id is not None:
            check_name(thread_id, "/thread_id")
        return Reader(
            namespace=get_namespace(tx, namespace, defaults=policy_defaults(self.settings)),
            key_id=self.caller.key_id,
            now=self.clock.now(),
            batch_ttl_s=self.settings.batch_ttl_s,
            thread_id=thread_id,
            sees_source=self.caller.may(Permission.ADMIN),
            meaning=meaning,
        )


def _read_edge(
    caller: Annotated[Caller, Depends(caller(Permission.READ))],
    database: DatabaseOf,
    clock: ClockOf,
    settings: SettingsOf,
) -> Edge:
    return Edge(caller, database, clock, settings)


def _use_edge(
    caller: Annotated[Caller, Depends(caller(Permission.USE))],
    database: DatabaseOf,
    clock: ClockOf,
    settings: SettingsOf,
) -> Edge:
    return Edge(caller, database, clock, settings)


def _admin_edge(
    caller: Annotated[Caller, Depends(caller(Permission.ADMIN))],
    database: DatabaseOf,
    clock: ClockOf,
    settings: SettingsOf,
) -> Edge:
    return Edge(caller, database, clock, settings)


ReadEdge = Annotated[Edge, Depends(_read_edge)]
UseEdge = Annotated[Edge, Depends(_use_edge)]
AdminEdge = Annotated[Edge, Depends(_admin_edge)]
