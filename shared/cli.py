"""The `stratagate` command: migrations, tenants and keys here, the rest from each service.

Each service adds its commands through the entry-point group `stratagate.commands`, so that this
file imports none of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from shared.administration_cli import AsJson, key_app, tenant_app
from shared.domain.jobs import JobState
from shared.errors import StrataGateError
from shared.settings import get_settings
from shared.store.database import Database, ReadTx
from shared.store.jobs import count_by_state
from shared.store.migrate import current_revision, head_revision
from shared.store.migrate import migrate as run_migrations
from shared.store.namespaces import list_namespaces
from shared.store.tenants import find_tenants
from shared.store.verify import verify_tenant

app = typer.Typer(
    name="stratagate",
    help="Long-term memory for AI agents: traceable, gated, tenant-safe.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # locals may hold keys
)
app.add_typer(tenant_app, name="tenant")
app.add_typer(key_app, name="key")

_out = Console()


def main() -> None:
    """Run the command line; errors of StrataGate become one line and exit code 1."""
    for entry in entry_points(group="stratagate.commands"):
        entry.load()(app)
    try:
        app()
    except StrataGateError as error:
        Console(stderr=True).print(f"[bold red]{error.code}[/]: {error.detail}", highlight=False)
        sys.exit(1)


@app.command()
def migrate() -> None:
    """Create the roles and bring the database to this version's schema."""
    _out.print(f"database at revision {run_migrations(get_settings())}")


@app.command()
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


@app.command()
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


if __name__ == "__main__":
    main()
