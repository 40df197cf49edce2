"""The versioned knowledge graph."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import protect

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE graph_versions (
        tenant_id TEXT NOT NULL,
        graph_version_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        state TEXT NOT NULL,
        derivation_version INTEGER DEFAULT '1' NOT NULL,
        request JSONB DEFAULT '{}'::jsonb NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        switched_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_graph_versions PRIMARY KEY (tenant_id, graph_version_id),
        CONSTRAINT fk_graph_versions_tenant_id_namespace FOREIGN KEY(tenant_id, namespace)
            REFERENCES namespaces (tenant_id, namespace),
        CONSTRAINT ck_graph_versions_state CHECK (state IN ('live', 'shadow', 'retired', 'dropped'))
    )
    """,
    """
    CREATE TABLE nodes (
        tenant_id TEXT NOT NULL,
        node_id TEXT NOT NULL,
        graph_version_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        type TEXT NOT NULL,
        name TEXT NOT NULL,
        key TEXT NOT NULL,
        status TEXT NOT NULL,
        confidence FLOAT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_nodes PRIMARY KEY (tenant_id, node_id),
        CONSTRAINT fk_nodes_tenant_id_graph_version_id FOREIGN KEY(tenant_id, graph_version_id)
            REFERENCES graph_versions (tenant_id, graph_version_id),
        CONSTRAINT ck_nodes_status CHECK (status IN ('active', 'superseded', 'disputed',
            'archived')),
        CONSTRAINT ck_nodes_type CHECK (type IN ('person', 'project', 'organization', 'tool',
            'place')),
        CONSTRAINT ck_nodes_confidence CHECK (confidence BETWEEN 0 AND 1),
        CONSTRAINT uq_nodes_tenant_id_graph_version_id_type_key UNIQUE (tenant_id,
            graph_version_id, type, key)
    )
    """,
    """
    CREATE TABLE labels (
        tenant_id TEXT NOT NULL,
        label_id TEXT NOT NULL,
        node_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        value TEXT NOT NULL,
        key TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_labels PRIMARY KEY (tenant_id, label_id),
        CONSTRAINT fk_labels_tenant_id_node_id FOREIGN KEY(tenant_id, node_id) REFERENCES nodes
            (tenant_id, node_id),
        CONSTRAINT ck_labels_kind CHECK (kind IN ('name', 'alias', 'tag')),
        CONSTRAINT uq_labels_tenant_id_node_id_kind_key UNIQUE (tenant_id, node_id, kind, key)
    )
    """,
    """
    CREATE TABLE facts (
        tenant_id TEXT NOT NULL,
        fact_id TEXT NOT NULL,
        node_id TEXT NOT NULL,
        mode TEXT NOT NULL,
        key TEXT NOT NULL,
        value JSONB NOT NULL,
        status TEXT NOT NULL,
        stance TEXT NOT NULL,
        valid_from TIMESTAMP WITH TIME ZONE,
        valid_until TIMESTAMP WITH TIME ZONE,
        recorded_at TIMESTAMP WITH TIME ZONE NOT NULL,
        confidence FLOAT NOT NULL,
        CONSTRAINT pk_facts PRIMARY KEY (tenant_id, fact_id),
        CONSTRAINT fk_facts_tenant_id_node_id FOREIGN KEY(tenant_id, node_id) REFERENCES nodes
            (tenant_id, node_id),
        CONSTRAINT ck_facts_status CHECK (status IN ('active', 'superseded', 'disputed',
            'archived')),
        CONSTRAINT ck_facts_stance CHECK (stance IN ('asserted', 'contested', 'past')),
        CONSTRAINT ck_facts_mode CHECK (mode IN ('state', 'set', 'relation')),
        CONSTRAINT ck_facts_confidence CHECK (confidence BETWEEN 0 AND 1)
    )
    """,
    """
    CREATE TABLE edges (
        tenant_id TEXT NOT NULL,
        edge_id TEXT NOT NULL,
        from_node_id TEXT NOT NULL,
        to_node_id TEXT NOT NULL,
        relation TEXT NOT NULL,
        cardinality TEXT NOT NULL,
        status TEXT NOT NULL,
        stance TEXT NOT NULL,
        valid_from TIMESTAMP WITH TIME ZONE,
        valid_until TIMESTAMP WITH TIME ZONE,
        recorded_at TIMESTAMP WITH TIME ZONE NOT NULL,
        confidence FLOAT NOT NULL,
        CONSTRAINT pk_edges PRIMARY KEY (tenant_id, edge_id),
        CONSTRAINT fk_edges_tenant_id_from_node_id FOREIGN KEY(tenant_id, from_node_id)
            REFERENCES nodes (tenant_id, node_id),
        CONSTRAINT fk_edges_tenant_id_to_node_id FOREIGN KEY(tenant_id, to_node_id) REFERENCES
            nodes (tenant_id, node_id),
        CONSTRAINT ck_edges_status CHECK (status IN ('active', 'superseded', 'disputed',
            'archived')),
        CONSTRAINT ck_edges_stance CHECK (stance IN ('asserted', 'contested', 'past')),
        CONSTRAINT ck_edges_cardinality CHECK (cardinality IN ('one', 'many')),
        CONSTRAINT ck_edges_confidence CHECK (confidence BETWEEN 0 AND 1),
        CONSTRAINT ck_edges_no_loop CHECK (from_node_id <> to_node_id)
    )
    """,
    """
    CREATE TABLE node_sources (
        tenant_id TEXT NOT NULL,
        node_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        CONSTRAINT pk_node_sources PRIMARY KEY (tenant_id, node_id, event_id),
        CONSTRAINT fk_node_sources_tenant_id_node_id FOREIGN KEY(tenant_id, node_id) REFERENCES
            nodes (tenant_id, node_id),
        CONSTRAINT fk_node_sources_tenant_id_event_id FOREIGN KEY(tenant_id, event_id)
            REFERENCES events (tenant_id, event_id)
    )
    """,
    """
    CREATE TABLE label_sources (
        tenant_id TEXT NOT NULL,
        label_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        CONSTRAINT pk_label_sources PRIMARY KEY (tenant_id, label_id, event_id),
        CONSTRAINT fk_label_sources_tenant_id_label_id FOREIGN KEY(tenant_id, label_id)
            REFERENCES labels (tenant_id, label_id),
        CONSTRAINT fk_label_sources_tenant_id_event_id FOREIGN KEY(tenant_id, event_id)
            REFERENCES events (tenant_id, event_id)
    )
    """,
    """
    CREATE TABLE fact_sources (
        tenant_id TEXT NOT NULL,
        fact_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        CONSTRAINT pk_fact_sources PRIMARY KEY (tenant_id, fact_id, event_id),
        CONSTRAINT fk_fact_sources_tenant_id_fact_id FOREIGN KEY(tenant_id, fact_id) REFERENCES
            facts (tenant_id, fact_id),
        CONSTRAINT fk_fact_sources_tenant_id_event_id FOREIGN KEY(tenant_id, event_id)
            REFERENCES events (tenant_id, event_id)
    )
    """,
    """
    CREATE TABLE edge_sources (
        tenant_id TEXT NOT NULL,
        edge_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        CONSTRAINT pk_edge_sources PRIMARY KEY (tenant_id, edge_id, event_id),
        CONSTRAINT fk_edge_sources_tenant_id_edge_id FOREIGN KEY(tenant_id, edge_id) REFERENCES
            edges (tenant_id, edge_id),
        CONSTRAINT fk_edge_sources_tenant_id_event_id FOREIGN KEY(tenant_id, event_id)
            REFERENCES events (tenant_id, event_id)
    )
    """,
)

_INDEXES = (
    "CREATE INDEX ix_nodes_updated ON nodes (tenant_id, graph_version_id, updated_at, node_id)",
    "CREATE INDEX ix_labels_key ON labels (tenant_id, key)",
    "CREATE INDEX ix_facts_node ON facts (tenant_id, node_id)",
    "CREATE INDEX ix_edges_from ON edges (tenant_id, from_node_id)",
    "CREATE INDEX ix_edges_to ON edges (tenant_id, to_node_id)",
    "CREATE INDEX ix_node_sources_event ON node_sources (tenant_id, event_id)",
    "CREATE INDEX ix_label_sources_event ON label_sources (tenant_id, event_id)",
    "CREATE INDEX ix_fact_sources_event ON fact_sources (tenant_id, event_id)",
    "CREATE INDEX ix_edge_sources_event ON edge_sources (tenant_id, event_id)",
)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "graph_versions": "SELECT, INSERT, UPDATE (state, switched_at)",
    "nodes": "SELECT, INSERT, UPDATE, DELETE",
    "labels": "SELECT, INSERT, UPDATE, DELETE",
    "facts": "SELECT, INSERT, UPDATE, DELETE",
    "edges": "SELECT, INSERT, UPDATE, DELETE",
    "node_sources": "SELECT, INSERT, DELETE",
    "label_sources": "SELECT, INSERT, DELETE",
    "fact_sources": "SELECT, INSERT, DELETE",
    "edge_sources": "SELECT, INSERT, DELETE",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
