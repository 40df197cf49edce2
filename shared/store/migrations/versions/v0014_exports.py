"""Exports of a namespace with their bundles, and where restored receipts were erased."""

from __future__ import annotations

from alembic import context, op

from shared.store.row_security import protect

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE exports (
        tenant_id TEXT NOT NULL,
        export_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        state TEXT DEFAULT 'running' NOT NULL,
        job_id TEXT,
        key_id TEXT,
        counts JSONB DEFAULT '{}'::jsonb NOT NULL,
        size_bytes BIGINT DEFAULT '0' NOT NULL,
        sha256 TEXT,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        finished_at TIMESTAMP WITH TIME ZONE,
        expires_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_exports PRIMARY KEY (tenant_id, export_id),
        CONSTRAINT fk_exports_tenant_id_namespace FOREIGN KEY(tenant_id, namespace) REFERENCES
            namespaces (tenant_id, namespace),
        CONSTRAINT ck_exports_state CHECK (state IN ('running', 'done', 'expired', 'withdrawn')),
        CONSTRAINT ck_exports_done CHECK (state <> 'done' OR (sha256 IS NOT NULL AND finished_at
            IS NOT NULL AND expires_at IS NOT NULL))
    )
    """,
    """
    CREATE TABLE export_chunks (
        tenant_id TEXT NOT NULL,
        export_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        data BYTEA NOT NULL,
        CONSTRAINT pk_export_chunks PRIMARY KEY (tenant_id, export_id, position),
        CONSTRAINT fk_export_chunks_tenant_id_export_id FOREIGN KEY(tenant_id, export_id)
            REFERENCES exports (tenant_id, export_id)
    )
    """,
    """
    CREATE TABLE receipt_origins (
        tenant_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        origin TEXT NOT NULL,
        CONSTRAINT pk_receipt_origins PRIMARY KEY (tenant_id, namespace, origin),
        CONSTRAINT fk_receipt_origins_tenant_id_namespace FOREIGN KEY(tenant_id, namespace)
            REFERENCES namespaces (tenant_id, namespace)
    )
    """,
)

_INDEXES = ("CREATE INDEX ix_exports_namespace ON exports (tenant_id, namespace, export_id)",)

# A restored namespace also knows the receipts that were erased where its bundle came from.
_GUARD = """
    CREATE OR REPLACE FUNCTION refuse_erased_receipt() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    DECLARE
        operation text := CASE TG_TABLE_NAME WHEN 'use_receipts' THEN 'use'
            ELSE to_jsonb(NEW) ->> 'operation' END;
    BEGIN
        IF NOT EXISTS (SELECT FROM public.erasure_keys AS k WHERE k.tenant_id = NEW.tenant_id) THEN
            RETURN NEW;
        END IF;
        IF NOT EXISTS (
            SELECT FROM (
                SELECT NEW.namespace AS name UNION
                SELECT o.origin FROM public.receipt_origins AS o
                WHERE o.tenant_id = NEW.tenant_id AND o.namespace = NEW.namespace) AS n
            JOIN public.tombstones AS t ON t.tenant_id = NEW.tenant_id AND t.kind = 'receipt'
             AND t.hash = public.erasure_hash_of(NEW.tenant_id,
                concat_ws(chr(31), n.name, operation, NEW.receipt_id))) THEN
            RETURN NEW;
        END IF;
        IF TG_WHEN = 'BEFORE' THEN RETURN NULL; END IF;
        RAISE EXCEPTION 'the receipt was erased meanwhile' USING ERRCODE = '40001';
    END $$
"""
_EXPIRE = """
    CREATE FUNCTION expire_exports(most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    DECLARE
        expired integer;
    BEGIN
        WITH due AS (
            SELECT e.tenant_id, e.export_id FROM public.exports AS e
            WHERE e.state = 'done' AND e.expires_at < now()
            ORDER BY e.expires_at LIMIT most FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM public.export_chunks AS c USING due
            WHERE c.tenant_id = due.tenant_id AND c.export_id = due.export_id
        )
        UPDATE public.exports AS e SET state = 'expired' FROM due
        WHERE e.tenant_id = due.tenant_id AND e.export_id = due.export_id;
        GET DIAGNOSTICS expired = ROW_COUNT;
        RETURN expired;
    END $$
"""

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "exports": "SELECT, INSERT, UPDATE",
    "export_chunks": "SELECT, INSERT, DELETE",
    "receipt_origins": "SELECT, INSERT",
}


def upgrade() -> None:
    """Create the tables under forced row level security, and the upkeep's way to expire."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
    op.execute(_GUARD)
    op.execute(_EXPIRE)
    op.execute("REVOKE ALL ON FUNCTION expire_exports(integer) FROM PUBLIC")
    queue_role = context.config.attributes["queue_role"]
    op.execute(f'GRANT EXECUTE ON FUNCTION expire_exports(integer) TO "{queue_role}"')
