"""Read and change a namespace's policy; a smaller block size takes effect at once (D40, D46)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ingest.schemas.policy import PolicyIn, PolicyPatch
from ingest.sealing import seal_full_tail
from shared.domain.decay import suggest_lambda
from shared.domain.jobs import LIVE_STATES, STAGE_OFF, JobKind
from shared.domain.tenancy import Caller, Policy
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.imports import count_undone_blocks
from shared.store.jobs import hurry_waiting, skip_waiting, skipped_work
from shared.store.namespaces import (
    ensure_namespace,
    find_namespace,
    get_namespace,
    lock_thread,
    policy_defaults,
    save_policy,
)
from shared.store.policies import lock_overrides
from shared.store.spend import wake_stopped
from shared.store.stage_counts import overfull_threads, stage_counts

STEEP_LAMBDA = 0.40
_STEEP = (
    "block_decay_lambda is above 0.40: blocks lose detail faster than recommended, most of "
    "it within two or three newer blocks"
)


def put_namespace(
    tx: WriteTx, namespace: str, policy: PolicyIn, *, caller: Caller, settings: Settings
) -> tuple[dict[str, Any], bool]:
    """Begin a namespace or replace its own policy; return its view and whether it is new."""
    is_new = find_namespace(tx, namespace, defaults=policy_defaults(settings)) is None
    ensure_namespace(tx, namespace)
    overrides = policy.model_dump(exclude_none=True)
    if lock_overrides(tx, namespace) != overrides:
        save_policy(tx, namespace, overrides)
        wake_stopped(tx, namespace)
        end_waiting(tx, namespace, settings)
        _audit(tx, namespace, overrides, caller=caller)
    return namespace_view(tx, namespace, settings=settings), is_new


def patch_namespace(
    tx: WriteTx, namespace: str, change: PolicyPatch, *, caller: Caller, settings: Settings
) -> dict[str, Any]:
    """Change some fields of a policy and return the namespace with the suggested λ.

    The suggestion keeps decay per turn unchanged when `block_turn_size` changes; it is applied
    only when asked for. NotFound for an unknown namespace.
    """
    before = lock_overrides(tx, namespace)
    old = get_namespace(tx, namespace, defaults=policy_defaults(settings)).policy
    fields = change.model_dump(exclude_unset=True, exclude={"apply_suggested_lambda"})
    save_policy(tx, namespace, merged(before, fields))
    if "token_budget" in fields:
        wake_stopped(tx, namespace)
    end_waiting(tx, namespace, settings)
    suggestion = suggested_lambda(old, _policy(tx, namespace, settings))
    applied = suggestion is not None and change.apply_suggested_lambda
    if applied:
        fields["block_decay_lambda"] = suggestion
        save_policy(tx, namespace, merged(before, fields))
    _audit(tx, namespace, fields, caller=caller)
    return {
        **namespace_view(tx, namespace, settings=settings),
        "suggested_block_decay_lambda": suggestion,
        "suggested_lambda_applied": applied,
    }


def seal_overfull_tails(
    database: Database, namespace: str, *, caller: Caller, settings: Settings
) -> list[str]:
    """Seal each thread whose tail a smaller block size has filled; return the new blocks.

    One transaction a thread: a crash in between leaves tails that the next turn seals.
    """
    with database.read(caller.tenant_id) as read:
        size = _policy(read, namespace, settings).block_turn_size
        overfull = overfull_threads(read, namespace, block_turn_size=size)
    block_ids: list[str] = []
    for thread_id in overfull:
        with database.write(caller.tenant_id) as tx:
            thread = lock_thread(tx, namespace, thread_id)
            sealed = seal_full_tail(
                tx,
                namespace,
                thread_id,
                turn_count=thread.turn_count,
                sealed_turn_count=thread.sealed_turn_count,
                block_turn_size=size,
                max_attempts=settings.max_attempts,
            )
        block_ids.extend(sealed.block_ids)
    return block_ids


def namespace_view(tx: ReadTx, namespace: str, *, settings: Settings) -> dict[str, Any]:
    """Return a namespace as the API shows it; NotFound for an unknown one."""
    row = get_namespace(tx, namespace, defaults=policy_defaults(settings))
    return {
        "namespace": row.namespace,
        "policy": asdict(row.policy),
        "overrides": dict(row.overrides),
        "turn_count": row.turn_count,
        "block_count": row.block_count - count_undone_blocks(tx, namespace),
        "revision": row.revision,
        "created_at": row.created_at.isoformat(),
        "warnings": warnings_of(row.policy),
    }


def namespace_with_counts(tx: ReadTx, namespace: str, *, settings: Settings) -> dict[str, Any]:
    """Return a namespace with its counts per stage; NotFound for an unknown one.

    `to_reprocess` counts what was skipped while a stage was off that is on again.
    """
    view = namespace_view(tx, namespace, settings=settings)
    counts = stage_counts(tx, namespace)
    stages = view["policy"]["stages"]
    offered = {
        kind: number for kind, number in skipped_work(tx, namespace).items() if stages.get(kind)
    }
    progress = _progress_percent(counts["jobs"])
    return {**view, "counts": counts | {"progress_percent": progress, "to_reprocess": offered}}


def end_waiting(tx: WriteTx, namespace: str, settings: Settings) -> None:
    """Let no job wait for a stage that is off.

    Projections are skipped at once. An extraction has a block to make ready, so its own step
    skips it: now, whatever it was waiting for.
    """
    stages = _policy(tx, namespace, settings).stages
    if not stages.project:
        skip_waiting(tx, namespace, JobKind.PROJECT, reason=STAGE_OFF)
    if not stages.extract:
        hurry_waiting(tx, namespace, JobKind.EXTRACT)


def _progress_percent(jobs: Mapping[str, Mapping[str, int]]) -> int:
    """Return the share of jobs that have ended, whole only when none is left."""
    ended = live = 0
    for states in jobs.values():
        for state, number in states.items():
            if state in LIVE_STATES:
                live += number
            else:
                ended += number
    return 100 if live == 0 else 100 * ended // (ended + live)


def merged(overrides: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Lay changed fields over a namespace's own policy; null takes a field out of it."""
    laid = dict(overrides)
    for name, value in fields.items():
        if value is None:
            laid.pop(name, None)
        elif name == "stages":
            laid[name] = merged(laid.get(name, {}), value)
        else:
            laid[name] = value
    return laid


def suggested_lambda(old: Policy, new: Policy) -> float | None:
    """Return the λ that keeps decay per turn at the new block size; None when it is the old."""
    if new.block_turn_size == old.block_turn_size:
        return None
    return suggest_lambda(
        old.block_decay_lambda, current_size=old.block_turn_size, new_size=new.block_turn_size
    )


def _policy(tx: ReadTx, namespace: str, settings: Settings) -> Policy:
    return get_namespace(tx, namespace, defaults=policy_defaults(settings)).policy


def warnings_of(policy: Policy) -> list[str]:
    """Return what is unwise about a policy, in words."""
    return [_STEEP] if policy.block_decay_lambda > STEEP_LAMBDA else []


def _audit(tx: WriteTx, namespace: str, fields: Mapping[str, Any], *, caller: Caller) -> None:
    record(
        tx,
        AuditEntry("policy_changed", key_id=caller.key_id, namespace=namespace, detail={**fields}),
    )
