"""`stratagate migrate`, `status` and `verify`: the database, looked at directly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from shared.administration_cli import AsJson
from shared.domain.jobs import JobState
from shared.settings import get_settings
from shared.store.database import Database, ReadTx
from shared.store.jobs import count_by_state
from shared.store.migrate import current_revision, head_revision
from shared.store.migrate import migrate as run_migrations
from shared.store.namespaces import list_namespaces
from shared.store.tenants import find_tenants
from shared.store.verify import verify_tenant

_out = Console()


def migrate() -> None:
    """Create the roles and bring the database to this version's schema."""
    _out.print(f"database at revision {run_migrations(get_settings())}")


def status(as_json: AsJson = False) -> None:
    """Show the schema's revision and, for each tenant, its jobs by kind and state."""
    settings = get_settings()
    database = Database(settings)
    tenants: list[dict[str, Any]] = [
        {"tenant_id": tenant_id, "name": name, **_tenant_status(database, tenant_id)}
        for tenant_id, name in find_tenants(settings)
    ]
    revision, expected = current_revision(database), head_revision()
    if as_json:
        report = {"revision": revision, "expected_revision": expected, "tenants": tenants}
        typer.echo(json.dumps(report, indent=2))
        return
    _out.print(f"schema {revision} (this version expects {expected})")
    for tenant in tenants:
        _out.print(_jobs_table(tenant) if tenant["jobs"] else f"{tenant['name']}: no jobs")


def verify(
    tenant: Annotated[str | None, typer.Option(help="Tenant id or name; absent: all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check that every derived row has its sources and that counters and jobs agree.

    Exit code 1 when something does not hold.
    """
    settings = get_settings()
    database = Database(settings)
    findings = []
    for tenant_id, name in find_tenants(settings, tenant):
        with database.read(tenant_id) as tx:
            findings += [{"tenant": name, **_fields(found)} for found in verify_tenant(tx)]
    if as_json:
        typer.echo(json.dumps(findings, indent=2))
    elif findings:
        table = Table("tenant", "namespace", "subject", "promise that does not hold")
        for found in findings:
            table.add_row(found["tenant"], found["namespace"], found["subject"], found["promise"])
        _out.print(table)
    else:
        _out.print("[green]clean[/]: every promise holds")
    if findings:
        raise typer.Exit(1)


def _tenant_status(database: Database, tenant_id: str) -> dict[str, object]:
    with database.read(tenant_id) as tx:
        return {"namespaces": _namespace_count(tx), "jobs": _jobs_by_kind(tx)}


def _namespace_count(tx: ReadTx) -> int:
    return len(list_namespaces(tx, after=None, limit=10_000))


def _jobs_by_kind(tx: ReadTx) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for (kind, state), number in sorted(count_by_state(tx).items()):
        counts.setdefault(kind, {})[state] = number
    return counts


def _jobs_table(tenant: Mapping[str, Any]) -> Table:
    """Only states that occur: columns for all of them would not fit a terminal."""
    seen = {state for counts in tenant["jobs"].values() for state in counts}
    states = [state.value for state in JobState if state.value in seen]
    table = Table("kind", *states, title=str(tenant["name"]))
    for kind, counts in tenant["jobs"].items():
        table.add_row(kind, *[str(counts.get(state, "")) for state in states])
    return table


def _fields(found: object) -> dict[str, str]:
    return {
        name: str(getattr(found, name)) for name in ("check", "promise", "namespace", "subject")
    }
