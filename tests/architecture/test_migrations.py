"""The declared tables and the migrated schema are the same, and every table is walled off."""

from __future__ import annotations

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from shared.settings import Settings
from shared.store.database import Database, owner_engine
from shared.store.migrate import current_revision, head_revision, migrate
from shared.store.tables import metadata


def test_migrations_make_exactly_the_declared_tables(settings: Settings) -> None:
    engine = owner_engine(settings)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_migrating_again_changes_nothing(own_settings: Settings, own_database: Database) -> None:
    assert migrate(own_settings) == head_revision()
    assert current_revision(own_database) == head_revision()


def test_every_table_forces_row_level_security(settings: Settings) -> None:
    engine = owner_engine(settings)
    with engine.connect() as connection:
        rows = connection.execute(
            text(
                "SELECT relname, relrowsecurity AND relforcerowsecurity AS forced FROM pg_class "
                "WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            )
        ).all()
    engine.dispose()
    walled = {row.relname for row in rows if row.forced}
    assert walled == {row.relname for row in rows} - {"alembic_version"}
    assert walled == set(metadata.tables)


def test_the_owner_can_backfill_rows_under_forced_security(own_settings: Settings) -> None:
    # FORCE hides rows from an owner without a policy: a backfill would then touch nothing.
    engine = owner_engine(own_settings)
    with engine.begin() as connection:
        connection.execute(text("CREATE ROLE plain_owner NOLOGIN"))
        connection.execute(text("CREATE TABLE probe (tenant_id text)"))
        connection.execute(text("ALTER TABLE probe OWNER TO plain_owner"))
        connection.execute(text("SET ROLE plain_owner"))
        connection.execute(text("ALTER TABLE probe ENABLE ROW LEVEL SECURITY"))
        connection.execute(text("ALTER TABLE probe FORCE ROW LEVEL SECURITY"))
        connection.execute(text("RESET ROLE"))
        connection.execute(text("INSERT INTO probe VALUES ('a'), ('b')"))
        connection.execute(text("SET ROLE plain_owner"))
        blind = connection.execute(text("UPDATE probe SET tenant_id = 'c'")).rowcount
        connection.execute(
            text("CREATE POLICY owner_rows ON probe TO CURRENT_USER USING (true) WITH CHECK (true)")
        )
        seeing = connection.execute(text("UPDATE probe SET tenant_id = 'c'")).rowcount
        connection.execute(text("RESET ROLE"))
        connection.execute(text("DROP TABLE probe"))
        connection.execute(text("DROP ROLE plain_owner"))
    engine.dispose()
    assert (blind, seeing) == (0, 2)
