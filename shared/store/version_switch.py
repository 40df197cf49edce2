"""Switch a namespace to another version: graph and events at once, in one transaction (D19).

Nothing said is lost by it: what the version lacks, because it became ready since, is carried over
and enqueued in the same transaction; what is still being built refuses the switch.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update

from shared.domain.jobs import FollowUp, JobKind
from shared.errors import Conflict
from shared.store.database import WriteTx
from shared.store.derivation_locks import await_projection, lock_extraction
from shared.store.derivations import carry_over, exchange_standings
from shared.store.graph_versions import GraphVersion, find_version, set_state
from shared.store.jobs import enqueue
from shared.store.tables import events, namespaces
from shared.store.version_blocks import (
    await_blocks,
    hold_all_blocks,
    hold_block,
    needed_blocks,
    progress_of,
    stuck_blocks,
)
from shared.store.versions import in_version, live_derivation_version


@dataclass(frozen=True, slots=True)
class Switched:
    """What a switch did: the version left, and the blocks whose projection was enqueued."""

    version: GraphVersion
    previous_id: str | None
    enqueued_blocks: int
    is_new: bool = True


def switch_version(
    tx: WriteTx,
    namespace: str,
    graph_version_id: str,
    *,
    max_attempts: int,
    accept_failed: bool = False,
) -> Switched:
    """Make a version the live one. Conflict `shadow_incomplete` while blocks of it are missing.

    `accept_failed` takes it without the blocks whose jobs have failed: their events are carried
    over from the live derivation and projected later. A dropped version is `version_dropped`.
    """
    await_projection(tx, namespace)
    version = find_version(tx, namespace, graph_version_id, for_update=True)
    if version.state == "live":
        return Switched(version, None, 0, is_new=False)
    if version.state == "dropped":
        raise Conflict("this version was dropped", code="version_dropped")
    live = live_derivation_version(tx, namespace)
    lock_extraction(tx, namespace, version=live)
    _check_whole(tx, version, accept_failed=accept_failed)
    late = _take_in_late(tx, version, live=live)
    if version.derivation_version != live:
        exchange_standings(tx, namespace, live=live, next_version=version.derivation_version)
    previous_id = _exchange(tx, version)
    for block_id in late:
        enqueue(tx, namespace, FollowUp(JobKind.PROJECT, block_id), max_attempts=max_attempts)
    return Switched(find_version(tx, namespace, graph_version_id), previous_id, len(late))


def _check_whole(tx: WriteTx, version: GraphVersion, *, accept_failed: bool) -> None:
    built = progress_of(tx, [version.graph_version_id])[version.graph_version_id]
    if built.waiting:
        raise Conflict(
            f"{built.waiting} of {built.total} blocks are still on their way into this version",
            code="shadow_incomplete",
        )
    if built.failed and not accept_failed:
        raise Conflict(
            f"the jobs of {built.failed} of {built.total} blocks have failed: call reprocess "
            "again to retry them, or switch with accept_failed",
            code="shadow_incomplete",
        )


def _take_in_late(tx: WriteTx, version: GraphVersion, *, live: int) -> list[str]:
    """Carry over what became ready since the version was built, or failed; return its blocks."""
    failed = stuck_blocks(tx, version.graph_version_id)
    late = needed_blocks(tx, version, JobKind.PROJECT, events_of=live)
    await_blocks(tx, version.graph_version_id, late)
    blocks = [*failed, *late]
    if blocks and version.derivation_version != live:
        statement = select(events.c.event_id).where(
            events.c.tenant_id == tx.tenant_id,
            events.c.block_id.in_(blocks),
            in_version(live),
        )
        carry_over(
            tx,
            version.namespace,
            list(tx.connection.execute(statement).scalars()),
            from_version=live,
            to_version=version.derivation_version,
        )
    for block_id in blocks:
        hold_block(tx, version.graph_version_id, block_id)
    return blocks


def _exchange(tx: WriteTx, version: GraphVersion) -> str | None:
    here = (namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == version.namespace)
    previous_id: str | None = tx.connection.execute(
        select(namespaces.c.graph_version_id).where(*here)
    ).scalar_one()
    if previous_id is not None:
        hold_all_blocks(tx, find_version(tx, version.namespace, previous_id))
        set_state(tx, previous_id, "retired")
    set_state(tx, version.graph_version_id, "live")
    tx.connection.execute(
        update(namespaces)
        .where(*here)
        .values(
            graph_version_id=version.graph_version_id,
            derivation_version=version.derivation_version,
            revision=namespaces.c.revision + 1,
        )
    )
    return previous_id
