"""Events, their sources and their links."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import protect

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE events (
        tenant_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        block_id TEXT NOT NULL,
        derivation_version INTEGER NOT NULL,
        job_id TEXT NOT NULL,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        narrative TEXT,
        tags TEXT[] NOT NULL,
        quotes JSONB DEFAULT '[]'::jsonb NOT NULL,
        participants TEXT[] NOT NULL,
        event_type TEXT NOT NULL,
        scope TEXT NOT NULL,
        criticality TEXT NOT NULL,
        category TEXT,
        mentioned_at TIMESTAMP WITH TIME ZONE,
        zone TEXT NOT NULL,
        happened_start TEXT,
        happened_end TEXT,
        happened_from TIMESTAMP WITH TIME ZONE,
        happened_until TIMESTAMP WITH TIME ZONE,
        precision TEXT NOT NULL,
        basis TEXT NOT NULL,
        time_status TEXT NOT NULL,
        original_text TEXT,
        fingerprint TEXT NOT NULL,
        status TEXT DEFAULT 'active' NOT NULL,
        status_before TEXT,
        superseded_by TEXT,
        pinned BOOLEAN DEFAULT 'false' NOT NULL,
        formed_turn BIGINT NOT NULL,
        last_adopted_turn BIGINT NOT NULL,
        mention_count INTEGER DEFAULT '1' NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_events PRIMARY KEY (tenant_id, event_id),
        CONSTRAINT fk_events_tenant_id_block_id FOREIGN KEY(tenant_id, block_id) REFERENCES
            blocks (tenant_id, block_id),
        CONSTRAINT ck_events_status CHECK (status IN ('active', 'superseded', 'forgotten',
            'archived')),
        CONSTRAINT ck_events_criticality CHECK (criticality IN ('routine', 'preference',
            'identity', 'safety')),
        CONSTRAINT ck_events_scope CHECK (scope IN ('user', 'project', 'session')),
        CONSTRAINT ck_events_mention_count CHECK (mention_count >= 1),
        CONSTRAINT ck_events_happened_whole CHECK ((happened_from IS NULL) = (happened_until IS
            NULL))
    )
    """,
    """
    CREATE TABLE event_sources (
        tenant_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        message_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        CONSTRAINT pk_event_sources PRIMARY KEY (tenant_id, event_id, message_id),
        CONSTRAINT fk_event_sources_tenant_id_event_id FOREIGN KEY(tenant_id, event_id)
            REFERENCES events (tenant_id, event_id),
        CONSTRAINT fk_event_sources_tenant_id_message_id FOREIGN KEY(tenant_id, message_id)
            REFERENCES messages (tenant_id, message_id)
    )
    """,
    """
    CREATE TABLE event_links (
        tenant_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        other_event_id TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_event_links PRIMARY KEY (tenant_id, event_id, kind, other_event_id),
        CONSTRAINT fk_event_links_tenant_id_event_id FOREIGN KEY(tenant_id, event_id) REFERENCES
            events (tenant_id, event_id),
        CONSTRAINT fk_event_links_tenant_id_other_event_id FOREIGN KEY(tenant_id,
            other_event_id) REFERENCES events (tenant_id, event_id),
        CONSTRAINT ck_event_links_kind CHECK (kind IN ('supersedes', 'conflicts_with', 'before',
            'after', 'related', 'same')),
        CONSTRAINT ck_event_links_not_itself CHECK (event_id <> other_event_id)
    )
    """,
)

_INDEXES = (
    "CREATE INDEX ix_events_block ON events (tenant_id, block_id)",
    "CREATE INDEX ix_events_fingerprint ON events (tenant_id, namespace, fingerprint)",
    "CREATE INDEX ix_events_namespace ON events (tenant_id, namespace, status, event_id)",
    "CREATE INDEX ix_events_said ON events (tenant_id, namespace, mentioned_at, event_id)",
    "CREATE INDEX ix_event_sources_message ON event_sources (tenant_id, message_id)",
    "CREATE INDEX ix_event_links_other ON event_links (tenant_id, other_event_id)",
)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "events": (
        "SELECT, INSERT, UPDATE (status, status_before, super"
        "seded_by, pinned, criticality, mention_count, last_adopted_turn, updated_at)"
    ),
    "event_sources": "SELECT, INSERT",
    "event_links": "SELECT, INSERT, DELETE",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
