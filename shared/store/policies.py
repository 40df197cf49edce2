"""The policy that holds for a namespace, and the one way to change it without losing a change."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, select

from shared.domain.limits import Limits, effective_limits, within_limits
from shared.domain.tenancy import Policy, effective_policy
from shared.errors import NotFound
from shared.store.database import ReadTx, WriteTx
from shared.store.tables import namespaces, tenants


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
