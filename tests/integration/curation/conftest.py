from __future__ import annotations

from collections.abc import Callable

import pytest

from shared.settings import Settings
from shared.store.database import owner_engine
from tests.integration.curation.curating import Curating
from tests.integration.retrieval.conftest import (  # noqa: F401 - fixtures, found by their names
    _clock_at_present,
    both_url,
    http,
    wall,
    world,
)
from tests.integration.retrieval.world import World


@pytest.fixture
def curating(world: World) -> Curating:  # noqa: F811 - the fixture of that name
    """A world with what curators do."""
    return Curating(world)


@pytest.fixture
def owner_rows(settings: Settings) -> Callable[[str, str], None]:
    """Return what removes an event with all that rests on it, as an erasure does."""

    def remove(tenant_id: str, event_id: str) -> None:
        engine = owner_engine(settings)
        with engine.begin() as connection:
            for table, columns in (
                ("event_links", ("event_id", "other_event_id")),
                ("event_sources", ("event_id",)),
                ("fact_sources", ("event_id",)),
                ("label_sources", ("event_id",)),
                ("node_sources", ("event_id",)),
                ("events", ("event_id",)),
            ):
                for column in columns:
                    connection.exec_driver_sql(
                        f"DELETE FROM {table} WHERE tenant_id = %s AND {column} = %s",  # noqa: S608 - names of our own schema
                        (tenant_id, event_id),
                    )
        engine.dispose()

    return remove
