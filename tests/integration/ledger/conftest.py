from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.clock import FixedClock
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase
from tests.integration.ledger.world import LedgerWorld
from tests.integration.workers.conftest import own_world, world
from tests.support.databases import new_tenant

__all__ = ["own_world", "world"]


@pytest.fixture
def ledger_world(
    own_settings: Settings, own_database: Database, clock: FixedClock
) -> Iterator[LedgerWorld]:
    # As worker processes hold it.
    database, queue = Database(own_settings, plans_once=True), QueueDatabase(own_settings)
    tenant = new_tenant(own_settings, own_database)
    yield LedgerWorld(own_settings, database, queue, tenant.tenant_id, clock)
    database.close()
    queue.close()
