"""Row level security, as migrations apply it: forced on every table, one policy per role.

The app role sees its tenant's rows, the queue role sees job rows alone, and the owner has an
explicit policy for all rows, since FORCE would otherwise make its backfills touch nothing.
"""

from __future__ import annotations

from typing import Any

from alembic import context, op

CURRENT_TENANT = "nullif(current_setting('app.tenant', true), '')"


def protect(table: str, privileges: str) -> None:
    """Force row level security on `table` and grant the app role `privileges` on it."""
    app_role = _role("app_role")
    own_rows = f"tenant_id = {CURRENT_TENANT}"
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(
        f'CREATE POLICY tenant_rows ON {table} TO "{app_role}" '
        f"USING ({own_rows}) WITH CHECK ({own_rows})"
    )
    op.execute(
        f"CREATE POLICY owner_rows ON {table} TO CURRENT_USER USING (true) WITH CHECK (true)"
    )
    op.execute(f'GRANT {privileges} ON {table} TO "{app_role}"')


def let_queue_role_in(table: str) -> None:
    """Let the relay and the upkeep see and move the rows of `table`, of every tenant."""
    queue_role = _role("queue_role")
    op.execute(
        f'CREATE POLICY queue_rows ON {table} TO "{queue_role}" USING (true) WITH CHECK (true)'
    )
    op.execute(f'GRANT SELECT ON {table} TO "{queue_role}"')
    op.execute(
        "GRANT UPDATE (state, rung_at, scheduled_at, lease_token, lease_until, errors, reason, "
        f'finalized_at) ON {table} TO "{queue_role}"'
    )


def create_key_lookup() -> None:
    """Create the one way from a key's hash to its tenant, callable without a tenant set."""
    op.execute(
        """
        CREATE FUNCTION find_api_key(hash bytea)
        RETURNS TABLE (tenant_id text, key_id text, permissions text[], namespaces text[])
        LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path = pg_catalog, public
        AS $$
            SELECT k.tenant_id, k.key_id, k.permissions, k.namespaces
            FROM public.api_keys AS k
            WHERE k.key_hash = hash
              AND k.revoked_at IS NULL
              AND (k.expires_at IS NULL OR k.expires_at > now())
        $$
        """
    )
    op.execute("REVOKE ALL ON FUNCTION find_api_key(bytea) FROM PUBLIC")
    op.execute(f'GRANT EXECUTE ON FUNCTION find_api_key(bytea) TO "{_role("app_role")}"')


def _role(name: str) -> Any:
    return context.config.attributes[name]
