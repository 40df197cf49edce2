"""Versions built beside the live one: which blocks they hold, which events they share (D19)."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, Text, text

from shared.store.tables.base import belongs_to, instant, metadata, required_text, tenant_key

# Kept for versions that are not live: what a live one holds is told by its namespace's blocks.
version_blocks = Table(
    "version_blocks",
    metadata,
    tenant_key(),
    Column("graph_version_id", Text, primary_key=True),
    Column("block_id", Text, primary_key=True),
    instant("done_at", nullable=True),
    belongs_to("graph_versions", "graph_version_id"),
    belongs_to("blocks", "block_id"),
    Index(
        "ix_version_blocks_waiting",
        "tenant_id",
        "graph_version_id",
        postgresql_where=text("done_at IS NULL"),
    ),
)

# An event that belongs to a derivation beside the one it was first written in.
carried_events = Table(
    "carried_events",
    metadata,
    tenant_key(),
    Column("event_id", Text, primary_key=True),
    Column("derivation_version", Integer, primary_key=True),
    required_text("namespace"),
    # Its successor in that derivation; the event's own row has that of the live one.
    Column("superseded_by", Text),
    belongs_to("events", "event_id"),
    Index("ix_carried_events_version", "tenant_id", "namespace", "derivation_version"),
)
