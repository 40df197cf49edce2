"""Search documents and postings."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import protect

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE search_documents (
        tenant_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        kind TEXT NOT NULL,
        version TEXT NOT NULL,
        document_id TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        length INTEGER NOT NULL,
        at TIMESTAMP WITH TIME ZONE NOT NULL,
        CONSTRAINT pk_search_documents PRIMARY KEY (tenant_id, namespace, kind, version,
            document_id),
        CONSTRAINT fk_search_documents_tenant_id_namespace FOREIGN KEY(tenant_id, namespace)
            REFERENCES namespaces (tenant_id, namespace),
        CONSTRAINT ck_search_documents_kind CHECK (kind IN ('message', 'event', 'node'))
    )
    """,
    """
    CREATE TABLE search_postings (
        tenant_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        kind TEXT NOT NULL,
        version TEXT NOT NULL,
        term TEXT NOT NULL,
        document_id TEXT NOT NULL,
        frequency INTEGER NOT NULL,
        CONSTRAINT pk_search_postings PRIMARY KEY (tenant_id, namespace, kind, version, term,
            document_id),
        CONSTRAINT fk_search_postings_tenant_id_namespace_kind_version_document_id FOREIGN
            KEY(tenant_id, namespace, kind, version, document_id) REFERENCES search_documents
            (tenant_id, namespace, kind, version, document_id)
    )
    """,
)

_INDEXES = ("CREATE INDEX ix_search_postings_document ON search_postings (tenant_id, document_id)",)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "search_documents": "SELECT, INSERT, UPDATE, DELETE",
    "search_postings": "SELECT, INSERT, UPDATE, DELETE",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
