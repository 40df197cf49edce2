"""Limits and counters of tenants, writable tenant policies, and the overlap of rotated keys."""

from __future__ import annotations

from alembic import context, op

from shared.store.row_security import protect

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_TABLES = (
    "ALTER TABLE tenants ADD limits JSONB DEFAULT '{}'::jsonb NOT NULL",
    """
    ALTER TABLE api_keys
        ADD previous_key_hash BYTEA,
        ADD previous_until TIMESTAMP WITH TIME ZONE,
        ADD rotated_at TIMESTAMP WITH TIME ZONE,
        ADD CONSTRAINT uq_api_keys_previous_key_hash UNIQUE (previous_key_hash)
    """,
    """
    ALTER TABLE namespaces
        ADD counted_day DATE,
        ADD day_turns BIGINT DEFAULT '0' NOT NULL,
        ADD stored_bytes BIGINT DEFAULT '0' NOT NULL
    """,
    "ALTER TABLE turns ADD size_bytes BIGINT DEFAULT '0' NOT NULL",
    # Not logged: after a crash of the database every tenant begins with a full bucket again.
    """
    CREATE UNLOGGED TABLE request_allowances (
        tenant_id TEXT NOT NULL,
        tokens DOUBLE PRECISION NOT NULL,
        refilled_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_request_allowances PRIMARY KEY (tenant_id)
    )
    """,
)

# By a piece of the hash alone: the whole is compared outside, in constant time. Both ends of a
# range of an index, so that the secret in use and the one before it are found alike.
_FIND_KEYS = """
    CREATE FUNCTION find_api_keys(handle bytea)
    RETURNS TABLE (
        tenant_id text, key_id text, permissions text[], namespaces text[], limits jsonb,
        hash bytea, refused text
    )
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public
    AS $$
        SELECT k.tenant_id, k.key_id, k.permissions, k.namespaces, t.limits, k.hash,
            CASE
                WHEN k.revoked_at IS NOT NULL THEN 'revoked'
                WHEN k.expires_at <= now() THEN 'expired'
                WHEN k.until <= now() THEN 'rotated'
            END
        FROM (
            SELECT a.*, a.key_hash AS hash, NULL::timestamptz AS until
            FROM public.api_keys AS a
            WHERE a.key_hash >= handle AND a.key_hash <= handle || decode(repeat('ff', 32), 'hex')
            UNION ALL
            SELECT b.*, b.previous_key_hash AS hash, b.previous_until AS until
            FROM public.api_keys AS b
            WHERE b.previous_key_hash >= handle
              AND b.previous_key_hash <= handle || decode(repeat('ff', 32), 'hex')
        ) AS k
        JOIN public.tenants AS t ON t.tenant_id = k.tenant_id
        -- A piece long enough to name one key: a shorter one would list those of every tenant.
        WHERE octet_length(handle) = 8
    $$
"""

# What an erasure deletes is given back to the tenant's storage quota, whoever deletes it.
_GIVE_BACK = """
    CREATE FUNCTION give_back_storage() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE public.namespaces AS n
        SET stored_bytes = greatest(0, n.stored_bytes - gone.size_bytes)
        FROM (
            SELECT d.tenant_id, d.namespace, sum(d.size_bytes) AS size_bytes
            FROM deleted AS d GROUP BY d.tenant_id, d.namespace
        ) AS gone
        WHERE n.tenant_id = gone.tenant_id AND n.namespace = gone.namespace;
        RETURN NULL;
    END
    $$
"""
_ON_DELETE = """
    CREATE TRIGGER turns_give_back_storage AFTER DELETE ON turns
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION give_back_storage()
"""


def upgrade() -> None:
    """Add the columns, the bucket of requests, and the ways the app role may use them."""
    app_role = context.config.attributes["app_role"]
    for statement in _TABLES:
        op.execute(statement)
    protect("request_allowances", "SELECT, INSERT, UPDATE")
    op.execute(f'GRANT UPDATE (policy) ON tenants TO "{app_role}"')
    op.execute(
        "GRANT UPDATE (key_hash, previous_key_hash, previous_until, rotated_at) "
        f'ON api_keys TO "{app_role}"'
    )
    op.execute("DROP FUNCTION find_api_key(bytea)")
    op.execute(_FIND_KEYS)
    op.execute("REVOKE ALL ON FUNCTION find_api_keys(bytea) FROM PUBLIC")
    op.execute(f'GRANT EXECUTE ON FUNCTION find_api_keys(bytea) TO "{app_role}"')
    op.execute(_GIVE_BACK)
    op.execute(_ON_DELETE)
