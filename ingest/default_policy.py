"""The tenant's default policy: what namespaces begin with, and, when asked, all follow (D46)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ingest.policy import (
    end_waiting,
    merged,
    seal_overfull_tails,
    suggested_lambda,
    warnings_of,
)
from ingest.schemas.policy import DefaultPolicyPatch
from shared.domain.jobs import LIVE_STATES
from shared.domain.tenancy import Caller, Policy
from shared.errors import Forbidden
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.namespaces import policy_defaults
from shared.store.policies import (
    apply_to_namespaces,
    default_overrides,
    lock_default_policy,
    namespaces_with_jobs,
    namespaces_with_tails,
    policy_for,
    save_default_policy,
)
from shared.store.spend import wake_stopped

# A name that no namespace has: the policy of it is what the tenant's next one begins with.
_NEXT = ""
_ASIDE = {"apply_suggested_lambda", "apply_to_existing"}
_OF_TENANT = frozenset({"tenant_token_budget"})


@dataclass(frozen=True, slots=True)
class _Change:
    """What a request says: its fields as given, and what to do beside saving them."""

    fields: dict[str, Any]
    applies_suggestion: bool
    applies_to_existing: bool


def default_policy(tx: ReadTx, *, settings: Settings) -> dict[str, Any]:
    """Return the tenant's default policy as the API shows it."""
    policy = _policy(tx, settings)
    return {
        "policy": asdict(policy),
        "overrides": default_overrides(tx),
        "warnings": warnings_of(policy),
    }


def patch_default_policy(
    database: Database, body: DefaultPolicyPatch, *, caller: Caller, settings: Settings
) -> dict[str, Any]:
    """Change some fields of the tenant's default policy, and of every namespace when asked.

    It holds at once for all namespaces that do not say otherwise themselves. Sealed blocks stay
    as they are; tails that a smaller size has filled are sealed, each in its own transaction.
    Forbidden for a key limited to namespaces.
    """
    if caller.namespaces is not None:
        raise Forbidden("a key limited to namespaces cannot change the tenant's policy")
    change = _Change(
        body.model_dump(exclude_unset=True, exclude=_ASIDE),
        body.apply_suggested_lambda,
        body.apply_to_existing,
    )
    with database.write(caller.tenant_id) as tx:
        view = _patch(tx, change, caller=caller, settings=settings)
    sealed = _seal(database, change, caller=caller, settings=settings)
    return {**view, "sealed_block_ids": sealed}


def _patch(tx: WriteTx, change: _Change, *, caller: Caller, settings: Settings) -> dict[str, Any]:
    before = lock_default_policy(tx)
    old = _policy(tx, settings)
    fields = dict(change.fields)
    save_default_policy(tx, merged(before, fields))
    suggestion = suggested_lambda(old, _policy(tx, settings))
    applied = suggestion is not None and change.applies_suggestion
    if applied:
        fields["block_decay_lambda"] = suggestion
        save_default_policy(tx, merged(before, fields))
    changed = _apply(tx, fields) if change.applies_to_existing else 0
    _wake(tx, fields, settings)
    detail = {**fields, "apply_to_existing": change.applies_to_existing, "namespaces": changed}
    record(tx, AuditEntry("default_policy_changed", key_id=caller.key_id, detail=detail))
    return {
        **default_policy(tx, settings=settings),
        "suggested_block_decay_lambda": suggestion,
        "suggested_lambda_applied": applied,
        "namespaces_changed": changed,
    }


def _apply(tx: WriteTx, fields: Mapping[str, Any]) -> int:
    given = {name: value for name, value in fields.items() if name not in _OF_TENANT}
    if not given:
        saved = default_overrides(tx)
        given = {name: value for name, value in saved.items() if name not in _OF_TENANT}
    return apply_to_namespaces(tx, given)


def _wake(tx: WriteTx, fields: Mapping[str, Any], settings: Settings) -> None:
    """Let jobs look again that waited under the policy before."""
    if fields.keys() & {"token_budget", "tenant_token_budget"} or not fields:
        wake_stopped(tx, None)
    if "stages" in fields or not fields:
        for namespace in namespaces_with_jobs(tx, [state.value for state in LIVE_STATES]):
            end_waiting(tx, namespace, settings)


def _seal(database: Database, change: _Change, *, caller: Caller, settings: Settings) -> list[str]:
    if change.fields and "block_turn_size" not in change.fields:
        return []
    with database.read(caller.tenant_id) as tx:
        size = _policy(tx, settings).block_turn_size
        overfull = namespaces_with_tails(tx, at_least=size)
    block_ids: list[str] = []
    for namespace in overfull:
        block_ids += seal_overfull_tails(database, namespace, caller=caller, settings=settings)
    return block_ids


def _policy(tx: ReadTx, settings: Settings) -> Policy:
    return policy_for(tx, _NEXT, defaults=policy_defaults(settings))
