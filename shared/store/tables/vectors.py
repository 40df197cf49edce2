"""Vectors of messages and of events, each with the model that made it.

A vector goes with its source: whoever deletes that deletes this.
"""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)

from shared.store.tables.base import created_at, metadata, required_text, tenant_key


def _vectors_of(name: str, source: str, identity: str) -> Table:
    return Table(
        name,
        metadata,
        tenant_key(),
        Column(identity, Text, primary_key=True),
        required_text("namespace"),
        required_text("thread_id"),
        required_text("model"),
        Column("dimension", Integer, nullable=False),
        # A signed byte a number and four of their length; NULL where the model refused the text.
        Column("vector", LargeBinary),
        created_at(),
        ForeignKeyConstraint(
            ["tenant_id", identity],
            [f"{source}.tenant_id", f"{source}.{identity}"],
            ondelete="CASCADE",
        ),
        CheckConstraint("dimension > 0", name="dimension"),
        CheckConstraint(
            "vector IS NULL OR octet_length(vector) = dimension + 4", name="vector_length"
        ),
        Index(f"ix_{name}_namespace", "tenant_id", "namespace", identity),
    )


message_vectors = _vectors_of("message_vectors", "messages", "message_id")
event_vectors = _vectors_of("event_vectors", "events", "event_id")
