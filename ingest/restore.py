"""Restore a bundle into an empty namespace: all of it or nothing, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby, islice
from typing import Any, Final

from ingest.restore_reading import ReadBundle, ThreadCounts, records
from ingest.turns.prepare import frequencies_of
from shared.domain.bundle import with_ids
from shared.domain.bundle_kinds import Kind
from shared.domain.events import EventStatus
from shared.domain.jobs import FollowUp, JobKind
from shared.domain.tenancy import Caller
from shared.errors import Conflict
from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import WriteTx
from shared.store.derived_documents import stored_event_document
from shared.store.events import recent_events
from shared.store.graph_documents import index_nodes
from shared.store.jobs import enqueue
from shared.store.messages import turns_range
from shared.store.namespaces import policy_defaults
from shared.store.policies import policy_for
from shared.store.restoring import (
    Totals,
    claim_empty,
    count_erased,
    finish_namespace,
    note_origin,
    pending_blocks,
    taken_ids,
    unprojected_blocks,
    write_records,
)
from shared.store.search_index import DocumentKind, SearchDocument, index_documents
from shared.store.vectors import request_vectors

_AT_ONCE: Final = 500
_DERIVATION: Final = 1


def restore_bundle(
    tx: WriteTx,
    caller: Caller,
    namespace: str,
    body: bytes,
    bundle: ReadBundle,
    *,
    settings: Settings,
    now: datetime,
) -> dict[str, Any]:
    """Write a checked bundle into an empty namespace and make it searchable.

    Ids are kept where the tenant has none of them yet, else all are given anew, in their order.
    Raises Conflict: `namespace_not_empty`; `bundle_erased` when the tenant has erased something
    that the bundle holds. Raises InvalidInput where the store refuses a record.
    """
    claim_empty(tx, namespace)
    if erased := count_erased(tx, bundle.ids):
        raise Conflict(
            f"the bundle holds {erased} thing(s) that were erased since: nothing was restored",
            code="bundle_erased",
        )
    ids = _new_ids(bundle.ids) if taken_ids(tx, bundle.ids) else {}
    nodes, version = _write(tx, namespace, body, ids, key_id=caller.key_id, settings=settings)
    home = bundle.home
    totals = Totals(
        turn_count=home["turn_count"],
        block_count=home["block_count"],
        erased_turn_count=home["erased_turn_count"],
        erased_block_count=home["erased_block_count"],
    )
    finish_namespace(tx, namespace, totals, graph_version_id=version, policy=bundle.policy)
    note_origin(tx, namespace, str(home.get("namespace")), home.get("origin"))
    _index(tx, namespace, bundle.threads, nodes, version=version, now=now)
    _go_on(tx, namespace, settings)
    record(
        tx,
        AuditEntry(
            "namespace_restored",
            key_id=caller.key_id,
            namespace=namespace,
            detail={"counts": dict(bundle.counts), "ids": "new" if ids else "kept"},
        ),
    )
    return {
        "namespace": namespace,
        "counts": dict(sorted(bundle.counts.items())),
        "ids": "new" if ids else "kept",
    }


def _new_ids(ids: Iterable[str]) -> dict[str, str]:
    """Give each id a new one of its kind; sorted, since ids tell the order of things."""
    return {one: new_id(Prefix(one.partition("_")[0])) for one in sorted(ids)}


def _write(
    tx: WriteTx,
    namespace: str,
    body: bytes,
    ids: Mapping[str, str],
    *,
    key_id: str,
    settings: Settings,
) -> tuple[list[str], str | None]:
    """Insert the records in their order; return the nodes and the graph version."""
    nodes: list[str] = []
    version: str | None = None
    read = records(body, limit_bytes=settings.bundle_limit_bytes)
    for kind, group in groupby(read, key=lambda one: one[0].name):
        for page in _pages(group):
            of_kind = page[0][0]
            rows = [with_ids(of_kind, values, ids) if ids else values for _, values in page]
            if kind == "node":
                nodes += [row["node_id"] for row in rows]
            elif kind == "graph_version":
                version = rows[-1]["graph_version_id"]
            write_records(tx, namespace, of_kind, rows, key_id=key_id)
    return nodes, version


def _pages(
    group: Iterator[tuple[Kind, Mapping[str, Any]]],
) -> Iterator[list[tuple[Kind, Mapping[str, Any]]]]:
    while page := list(islice(group, _AT_ONCE)):
        yield page


def _index(
    tx: WriteTx,
    namespace: str,
    threads: Mapping[str, ThreadCounts],
    nodes: list[str],
    *,
    version: str | None,
    now: datetime,
) -> None:
    for thread_id, thread in threads.items():
        _index_messages(tx, namespace, thread_id, turn_count=thread.last_turn)
    before: str | None = None
    while page := recent_events(
        tx,
        namespace,
        version=_DERIVATION,
        limit=_AT_ONCE,
        statuses=tuple(EventStatus),
        before=before,
    ):
        before = page[-1].event_id
        documents = [stored_event_document(event) for event in page]
        index_documents(
            tx,
            namespace,
            DocumentKind.EVENT,
            documents,
            are_new=True,
            version=str(_DERIVATION),
        )
    for start in range(0, len(nodes), _AT_ONCE):
        index_nodes(
            tx, namespace, nodes[start : start + _AT_ONCE], now, graph_version_id=version or ""
        )


def _index_messages(tx: WriteTx, namespace: str, thread_id: str, *, turn_count: int) -> None:
    for first in range(1, turn_count + 1, _AT_ONCE):
        stored = turns_range(tx, namespace, thread_id, first=first, last=first + _AT_ONCE - 1)
        documents = [
            SearchDocument(one.message.id, thread_id, one.message.occurred_at, found)
            for one in stored
            if one.message.occurred_at is not None and (found := frequencies_of(one.message))
        ]
        index_documents(tx, namespace, DocumentKind.MESSAGE, documents, are_new=True)


def _go_on(tx: WriteTx, namespace: str, settings: Settings) -> None:
    """Derive what the bundle had not derived yet."""
    for block_id in pending_blocks(tx, namespace):
        work = FollowUp(JobKind.SUMMARIZE, block_id)
        enqueue(tx, namespace, work, max_attempts=settings.max_attempts)
    for block_id in unprojected_blocks(tx, namespace):
        work = FollowUp(JobKind.PROJECT, block_id)
        enqueue(tx, namespace, work, max_attempts=settings.max_attempts)
    policy = policy_for(tx, namespace, defaults=policy_defaults(settings))
    request_vectors(tx, namespace, policy, settings)
