"""Migrate the database and see that the local tenant has a working key; run as one process.

Reads the key of the last run on standard input, writes `{"revision", "key"}` on standard output.
"""

from __future__ import annotations

import json
import sys

from shared.auth import authenticate, issue_key
from shared.domain.tenancy import Permission
from shared.errors import Unauthorized
from shared.settings import Settings, get_settings
from shared.store.database import Database
from shared.store.migrate import migrate
from shared.store.tenants import create_tenant, find_tenants

TENANT = "local"


def seed(settings: Settings, known_key: str) -> dict[str, str]:
    """Bring the schema to the head and return a key that works: the known one if it does."""
    revision = migrate(settings)
    database = Database(settings)
    try:
        key = known_key if _works(database, known_key) else _new_key(settings, database)
    finally:
        database.close()
    return {"revision": revision, "key": key}


def _works(database: Database, key: str) -> bool:
    if not key:
        return False
    try:
        authenticate(database, f"Bearer {key}")
    except Unauthorized:
        return False  # the database was made anew beside an older key
    return True


def _new_key(settings: Settings, database: Database) -> str:
    """Make a key; a start that was cut before its key was kept has made the tenant already."""
    found = find_tenants(settings, TENANT)
    tenant_id = found[0][0] if found else create_tenant(settings, TENANT)
    with database.write(tenant_id) as tx:
        return issue_key(tx, label="local stack", permissions=frozenset(Permission)).key


if __name__ == "__main__":
    print(json.dumps(seed(get_settings(), sys.stdin.read().strip())))
