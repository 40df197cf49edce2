"""The policy that holds for a namespace, and the one way to change it without losing a change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import orjson
from sqlalchemy import and_, select, text, update

from shared.domain.limits import Limits, effective_limits, within_limits
from shared.domain.tenancy import Policy, effective_policy
from shared.errors import NotFound
from shared.store.database import ReadTx, WriteTx
from shared.store.tables import jobs, namespaces, tenants, threads

# Locks no more than the namespaces it changes, and waits for none of what their writers hold.
_APPLY = text(
    """
    UPDATE namespaces AS n SET policy = changed.policy, revision = n.revision + 1
    FROM (
        SELECT namespace, (policy - cast(:removed AS text[])) || cast(:fields AS jsonb)
            || CASE WHEN :has_stages THEN jsonb_build_object('stages',
                (coalesce(policy -> 'stages', '{}'::jsonb) - cast(:removed_stages AS text[]))
                || cast(:stages AS jsonb)) ELSE '{}'::jsonb END AS policy
        FROM namespaces WHERE tenant_id = :tenant_id
    ) AS changed
    WHERE n.tenant_id = :tenant_id AND n.namespace = changed.namespace
      AND n.policy IS DISTINCT FROM changed.policy
    """
)


def policy_for(tx: ReadTx, namespace: str, *, defaults: Policy) -> Policy:
    """Return the policy of a namespace, or that which it would begin with (D46)."""
    return rules_for(tx, namespace, defaults=defaults, limits=Limits())[0]


def rules_for(
    tx: ReadTx, namespace: str, *, defaults: Policy, limits: Limits
) -> tuple[Policy, Limits]:
    """Return the policy as `policy_for` does, and the limits of the tenant, in one look."""
    own = and_(namespaces.c.tenant_id == tenants.c.tenant_id, namespaces.c.namespace == namespace)
    row = tx.connection.execute(
        select(tenants.c.policy.label("tenant_policy"), tenants.c.limits, namespaces.c.policy)
        .select_from(tenants.outerjoin(namespaces, own))
        .where(tenants.c.tenant_id == tx.tenant_id)
    ).one()
    policy = effective_policy(defaults, row.tenant_policy, row.policy or {})
    return within_limits(policy, row.limits), effective_limits(limits, row.limits)


def lock_overrides(tx: WriteTx, namespace: str) -> dict[str, Any]:
    """Return what the namespace's own policy says, locked until the commit.

    NotFound when this tenant has none of that name.
    """
    row = tx.connection.execute(
        select(namespaces.c.policy)
        .where(namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace)
        .with_for_update(key_share=True)
    ).one_or_none()
    if row is None:
        raise NotFound("no such namespace")
    return dict(row.policy)


def lock_default_policy(tx: WriteTx) -> dict[str, Any]:
    """Return what the tenant's default policy says, locked until the commit."""
    row = tx.connection.execute(
        select(tenants.c.policy)
        .where(tenants.c.tenant_id == tx.tenant_id)
        .with_for_update(key_share=True)
    ).one()
    return dict(row.policy)


def default_overrides(tx: ReadTx) -> dict[str, Any]:
    """Return what the tenant's default policy says."""
    statement = select(tenants.c.policy).where(tenants.c.tenant_id == tx.tenant_id)
    return dict(tx.connection.execute(statement).scalar_one())


def save_default_policy(tx: WriteTx, overrides: Mapping[str, Any]) -> None:
    """Replace what the tenant's default policy says; it holds from the next look on."""
    tx.connection.execute(
        update(tenants).where(tenants.c.tenant_id == tx.tenant_id).values(policy=dict(overrides))
    )


def apply_to_namespaces(tx: WriteTx, fields: Mapping[str, Any]) -> int:
    """Lay fields over the own policy of every namespace, null taking one out; return how many.

    Namespaces that say so already are left as they are and not counted.
    """
    plain = {name: value for name, value in fields.items() if name != "stages"}
    stages: Mapping[str, Any] = fields.get("stages") or {}
    removed = [name for name, value in fields.items() if value is None]
    values = {
        "tenant_id": tx.tenant_id,
        "removed": removed,
        "fields": _json({name: value for name, value in plain.items() if value is not None}),
        "has_stages": bool(stages),
        "removed_stages": [name for name, value in stages.items() if value is None],
        "stages": _json({name: value for name, value in stages.items() if value is not None}),
    }
    return tx.connection.execute(_APPLY, values).rowcount


def namespaces_with_tails(tx: ReadTx, *, at_least: int) -> list[str]:
    """Return the namespaces that hold a thread with so many turns in no block yet."""
    statement = (
        select(threads.c.namespace)
        .where(
            threads.c.tenant_id == tx.tenant_id,
            threads.c.turn_count - threads.c.sealed_turn_count >= at_least,
        )
        .distinct()
        .order_by(threads.c.namespace)
    )
    return list(tx.connection.execute(statement).scalars())


def namespaces_with_jobs(tx: ReadTx, states: Collection[str]) -> list[str]:
    """Return the namespaces that have jobs in one of these states."""
    statement = (
        select(jobs.c.namespace)
        .where(jobs.c.tenant_id == tx.tenant_id, jobs.c.state.in_(states))
        .distinct()
        .order_by(jobs.c.namespace)
    )
    return list(tx.connection.execute(statement).scalars())


def _json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(value)).decode()
