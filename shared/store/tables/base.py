"""One metadata for all tables, with names for every constraint, and the column shorthands."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, DateTime, ForeignKeyConstraint, MetaData, Text, text
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

NOW = text("now()")


def tenant_key() -> Column[str]:
    """Return the first part of every primary key."""
    return Column("tenant_id", Text, primary_key=True)


def required_text(name: str, **options: Any) -> Column[str]:
    """Return a text column that is never null."""
    return Column(name, Text, nullable=False, **options)


def instant(name: str, *, nullable: bool = False, **options: Any) -> Column[Any]:
    """Return a timestamp column, stored in UTC."""
    return Column(name, DateTime(timezone=True), nullable=nullable, **options)


def created_at() -> Column[Any]:
    """Return the column that says when the row was written, by the database's clock."""
    return instant("created_at", server_default=NOW)


def json_object(name: str) -> Column[Any]:
    """Return a JSON object column, empty unless given."""
    return Column(name, JSONB, nullable=False, server_default=text("'{}'::jsonb"))


def json_list(name: str) -> Column[Any]:
    """Return a JSON array column, empty unless given."""
    return Column(name, JSONB, nullable=False, server_default=text("'[]'::jsonb"))


def belongs_to(table: str, *columns: str, to: tuple[str, ...] = ()) -> ForeignKeyConstraint:
    """Return a composite foreign key that begins with the tenant.

    Foreign-key checks bypass row level security, so the tenant is part of every one.
    """
    target = to or columns
    return ForeignKeyConstraint(
        ["tenant_id", *columns], [f"{table}.tenant_id", *(f"{table}.{name}" for name in target)]
    )
