"""Events: immutable but for status, links and weight; each cites the messages it rests on."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from shared.store.tables.base import (
    NOW,
    belongs_to,
    created_at,
    instant,
    json_list,
    metadata,
    required_text,
    tenant_key,
)

LASTING = text("(pinned OR criticality = 'safety')")
"""Which events every context shows; the words of the index, as only they let it be used."""

events = Table(
    "events",
    metadata,
    tenant_key(),
    Column("event_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("thread_id"),
    required_text("block_id"),
    Column("derivation_version", Integer, nullable=False),
    required_text("job_id"),
    required_text("title"),
    required_text("summary"),
    Column("narrative", Text),
    Column("tags", ARRAY(Text), nullable=False),
    # [{"message_id", "text"}], each verbatim in its message.
    json_list("quotes"),
    Column("participants", ARRAY(Text), nullable=False),
    required_text("event_type"),
    required_text("scope"),
    required_text("criticality"),
    Column("category", Text),
    # When its message was said; unknown only for an import that does not say (D47).
    instant("mentioned_at", nullable=True),
    required_text("zone"),
    # As shown: a date (YYYY-MM-DD) or an RFC 3339 instant, in the event's own zone.
    Column("happened_start", Text),
    Column("happened_end", Text),
    # The same as a half-open span of instants, for filters and order.
    instant("happened_from", nullable=True),
    instant("happened_until", nullable=True),
    required_text("precision"),
    required_text("basis"),
    required_text("time_status"),
    Column("original_text", Text),
    # SHA-256 of the normalised title and summary: equal ones say the same (D15).
    required_text("fingerprint"),
    Column("status", Text, nullable=False, server_default="active"),
    # What restoring gives back (D14).
    Column("status_before", Text),
    Column("superseded_by", Text),
    Column("pinned", Boolean, nullable=False, server_default="false"),
    # The namespace turn at which it was said, and at which it was last used (D4).
    Column("formed_turn", BigInteger, nullable=False),
    Column("last_adopted_turn", BigInteger, nullable=False),
    Column("mention_count", Integer, nullable=False, server_default="1"),
    # Counts what people changed of it, so that one of them cannot overwrite what another did.
    Column("curation_revision", Integer, nullable=False, server_default="0"),
    created_at(),
    instant("updated_at", server_default=NOW),
    belongs_to("blocks", "block_id"),
    CheckConstraint("status IN ('active', 'superseded', 'forgotten', 'archived')", name="status"),
    CheckConstraint(
        "criticality IN ('routine', 'preference', 'identity', 'safety')", name="criticality"
    ),
    CheckConstraint("scope IN ('user', 'project', 'session')", name="scope"),
    CheckConstraint("mention_count >= 1", name="mention_count"),
    CheckConstraint("(happened_from IS NULL) = (happened_until IS NULL)", name="happened_whole"),
    Index("ix_events_block", "tenant_id", "block_id"),
    Index("ix_events_namespace", "tenant_id", "namespace", "status", "event_id"),
    Index("ix_events_fingerprint", "tenant_id", "namespace", "fingerprint"),
    Index("ix_events_said", "tenant_id", "namespace", "mentioned_at", "event_id"),
    Index(
        "ix_events_happened",
        "tenant_id",
        "namespace",
        "happened_from",
        postgresql_where=text("happened_from IS NOT NULL"),
    ),
    Index("ix_events_lasting", "tenant_id", "namespace", "event_id", postgresql_where=LASTING),
)

event_sources = Table(
    "event_sources",
    metadata,
    tenant_key(),
    Column("event_id", Text, primary_key=True),
    Column("message_id", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    belongs_to("events", "event_id"),
    belongs_to("messages", "message_id"),
    Index("ix_event_sources_message", "tenant_id", "message_id"),
)

event_links = Table(
    "event_links",
    metadata,
    tenant_key(),
    Column("event_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("other_event_id", Text, primary_key=True),
    created_at(),
    belongs_to("events", "event_id"),
    belongs_to("events", "other_event_id", to=("event_id",)),
    CheckConstraint(
        "kind IN ('supersedes', 'conflicts_with', 'before', 'after', 'related', 'same')",
        name="kind",
    ),
    CheckConstraint("event_id <> other_event_id", name="not_itself"),
    Index("ix_event_links_other", "tenant_id", "other_event_id"),
)
