"""Vectors of messages and events."""

from __future__ import annotations

from alembic import context, op

from shared.store.row_security import protect

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE message_vectors (
        tenant_id TEXT NOT NULL,
        message_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        model TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        vector BYTEA,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_message_vectors PRIMARY KEY (tenant_id, message_id),
        CONSTRAINT fk_message_vectors_tenant_id_message_id FOREIGN KEY(tenant_id, message_id)
            REFERENCES messages (tenant_id, message_id) ON DELETE CASCADE,
        CONSTRAINT ck_message_vectors_dimension CHECK (dimension > 0),
        CONSTRAINT ck_message_vectors_vector_length CHECK (vector IS NULL
            OR octet_length(vector) = dimension + 4)
    )
    """,
    """
    CREATE TABLE event_vectors (
        tenant_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        model TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        vector BYTEA,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_event_vectors PRIMARY KEY (tenant_id, event_id),
        CONSTRAINT fk_event_vectors_tenant_id_event_id FOREIGN KEY(tenant_id, event_id)
            REFERENCES events (tenant_id, event_id) ON DELETE CASCADE,
        CONSTRAINT ck_event_vectors_dimension CHECK (dimension > 0),
        CONSTRAINT ck_event_vectors_vector_length CHECK (vector IS NULL
            OR octet_length(vector) = dimension + 4)
    )
    """,
    # Trying to compress what looks like noise costs time and gains nothing.
    "ALTER TABLE message_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
    "ALTER TABLE event_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
)

_INDEXES = (
    "CREATE INDEX ix_message_vectors_namespace ON message_vectors (tenant_id, namespace, "
    "message_id)",
    "CREATE INDEX ix_event_vectors_namespace ON event_vectors (tenant_id, namespace, event_id)",
)

_PRIVILEGES = {
    "message_vectors": "SELECT, INSERT, UPDATE, DELETE",
    "event_vectors": "SELECT, INSERT, UPDATE, DELETE",
}

# For the doctor: which models' vectors the installation holds. Counts alone, of all tenants.
_MODELS = """
    CREATE FUNCTION stored_vector_models()
    RETURNS TABLE (model text, dimension integer, vectors bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, public
    AS $$
        SELECT v.model, v.dimension, count(*)
        FROM (SELECT model, dimension FROM public.message_vectors
              UNION ALL SELECT model, dimension FROM public.event_vectors) AS v
        GROUP BY v.model, v.dimension
        ORDER BY count(*) DESC, v.model
    $$
    """


def upgrade() -> None:
    """Create the tables, each under forced row level security, and the count of models."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
    op.execute(_MODELS)
    op.execute("REVOKE ALL ON FUNCTION stored_vector_models() FROM PUBLIC")
    queue_role = context.config.attributes["queue_role"]
    op.execute(f'GRANT EXECUTE ON FUNCTION stored_vector_models() TO "{queue_role}"')
