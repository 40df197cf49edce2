"""Migrate the schema: roles first, then Alembic, under an advisory lock and a lock timeout."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from shared.errors import Unavailable
from shared.settings import Settings
from shared.store.database import Database, owner_engine

_ADVISORY_LOCK = 7_236_115_201
"""Any fixed number: two migrations at once wait for each other."""


def migrate(settings: Settings) -> str:
    """Bring the database to the newest schema and return its revision.

    Safe to run twice and from several machines at once. Raises Unavailable when the database
    cannot be reached or the role may not enter it, and when a lock is not had within 5 seconds,
    so that a migration never queues behind traffic and blocks it.
    """
    engine = owner_engine(settings)
    try:
        with engine.connect() as connection:
            _upgrade(connection, settings)
    except OperationalError as error:
        raise Unavailable(f"the database could not be migrated: {_reason(error)}") from error
    finally:
        engine.dispose()
    return head_revision()


def _upgrade(connection: Connection, settings: Settings) -> None:
    connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _ADVISORY_LOCK})
    connection.commit()
    try:
        _ensure_roles(connection, settings)
        connection.execute(text("SET lock_timeout TO '5s'"))
        connection.commit()
        command.upgrade(_config(settings, connection), "head")
        connection.commit()
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _ADVISORY_LOCK})
        connection.commit()


def _reason(error: OperationalError) -> str:
    """Return the server's or driver's own first line; it never holds the password."""
    lines = str(error.orig).strip().splitlines()
    return lines[0] if lines else type(error.orig).__name__


def head_revision() -> str:
    """Return the revision that this code expects."""
    head = ScriptDirectory(str(_script_location())).get_current_head()
    if head is None:
        raise RuntimeError("no migration found beside the code")
    return head


def current_revision(database: Database) -> str | None:
    """Return the revision that the database stands at, as the app role sees it."""
    with database.anonymous() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _ensure_roles(connection: Connection, settings: Settings) -> None:
    for role in (settings.app_role, settings.queue_role):
        # Roles belong to the whole cluster: another database's migration may create it first.
        connection.execute(
            text(
                f"""
                DO $$ BEGIN
                    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
                        CREATE ROLE "{role}" NOLOGIN NOBYPASSRLS;
                    END IF;
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
                END $$
                """
            )
        )
        connection.execute(text(f'GRANT "{role}" TO CURRENT_USER'))
        connection.execute(text(f'GRANT USAGE ON SCHEMA public TO "{role}"'))
    connection.commit()
    connection.execute(
        text(
            "CREATE TABLE IF NOT EXISTS alembic_version (version_num varchar(32) NOT NULL "
            "CONSTRAINT alembic_version_pkc PRIMARY KEY)"
        )
    )
    connection.execute(text(f'GRANT SELECT ON alembic_version TO "{settings.app_role}"'))
    connection.commit()


def _config(settings: Settings, connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_script_location()))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["app_role"] = settings.app_role
    config.attributes["queue_role"] = settings.queue_role
    return config


def _script_location() -> Path:
    return Path(__file__).parent / "migrations"
