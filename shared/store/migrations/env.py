"""Alembic's entry: runs each migration on the connection that `shared.store.migrate` hands over."""

from __future__ import annotations

from alembic import context

from shared.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transaction_per_migration=True,
    compare_type=True,
)

with context.begin_transaction():
    context.run_migrations()
