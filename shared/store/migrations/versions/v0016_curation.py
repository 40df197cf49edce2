"""Curation: what people decided about events and conflicts."""

from __future__ import annotations

from alembic import context, op

from shared.store.row_security import protect

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_TABLE = """
    CREATE TABLE conflicts (
        tenant_id TEXT NOT NULL,
        conflict_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        event_id TEXT NOT NULL,
        other_event_id TEXT NOT NULL,
        decision TEXT,
        kept_event_id TEXT,
        decided_by TEXT,
        decided_at TIMESTAMP WITH TIME ZONE,
        revision INTEGER DEFAULT 0 NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_conflicts PRIMARY KEY (tenant_id, conflict_id),
        CONSTRAINT fk_conflicts_tenant_id_namespace FOREIGN KEY(tenant_id, namespace)
            REFERENCES namespaces (tenant_id, namespace) ON DELETE CASCADE,
        CONSTRAINT uq_conflicts_tenant_id_event_id_other_event_id UNIQUE (tenant_id, event_id,
            other_event_id),
        CONSTRAINT ck_conflicts_decision CHECK (decision IN ('one', 'both')),
        CONSTRAINT ck_conflicts_kept CHECK ((decision = 'one') = (kept_event_id IS NOT NULL)),
        CONSTRAINT ck_conflicts_decided CHECK ((decision IS NULL) = (decided_at IS NULL)),
        CONSTRAINT ck_conflicts_ordered CHECK (event_id < other_event_id)
    )
"""

# Whoever links a conflict (extraction, import, restore) gets its row with it, and what a person
# settled is not opened again by a derivation that says it once more. The id is that of the pair:
# time-ordered as the later event is, and the same however often the link is written.
_NOTE_CONFLICT = """
    CREATE FUNCTION note_conflict() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
    DECLARE
        earlier text := least(NEW.event_id, NEW.other_event_id);
        later text := greatest(NEW.event_id, NEW.other_event_id);
    BEGIN
        IF EXISTS (SELECT FROM conflicts c
                   WHERE c.tenant_id = NEW.tenant_id AND c.event_id = earlier
                     AND c.other_event_id = later AND c.decision IS NOT NULL) THEN
            RETURN NULL;
        END IF;
        INSERT INTO conflicts (tenant_id, conflict_id, namespace, event_id, other_event_id)
        SELECT e.tenant_id,
               'cfl_' || substr(later, 5, 16) || '8' || substr(encode(
                   sha256(convert_to(earlier || later, 'UTF8')), 'hex'), 1, 15),
               e.namespace, earlier, later
        FROM events e WHERE e.tenant_id = NEW.tenant_id AND e.event_id = NEW.event_id
        ON CONFLICT DO NOTHING;
        RETURN NEW;
    END $$
"""

_TRIGGER = """
    CREATE TRIGGER note_conflict BEFORE INSERT ON event_links FOR EACH ROW
    WHEN (NEW.kind = 'conflicts_with') EXECUTE FUNCTION note_conflict()
"""


def upgrade() -> None:
    """Create the conflicts, count the curations of an event, and index lists of uses."""
    op.execute(_TABLE)
    op.execute(
        "CREATE INDEX ix_conflicts_namespace ON conflicts (tenant_id, namespace, conflict_id)"
    )
    protect(
        "conflicts",
        "SELECT, INSERT, UPDATE (decision, kept_event_id, decided_by, decided_at, revision)",
    )
    op.execute(_NOTE_CONFLICT)
    op.execute(_TRIGGER)
    op.execute("ALTER TABLE events ADD COLUMN curation_revision INTEGER DEFAULT 0 NOT NULL")
    app_role = context.config.attributes["app_role"]
    op.execute(f'GRANT UPDATE (curation_revision) ON events TO "{app_role}"')
    # An answer names its turn by the receipt under which the turn is, or will be, posted.
    op.execute("CREATE INDEX ix_turns_receipt ON turns (tenant_id, namespace, receipt_id)")
    op.execute(
        "CREATE INDEX ix_use_receipts_namespace ON use_receipts "
        "(tenant_id, namespace, use_receipt_id)"
    )
