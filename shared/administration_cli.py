"""`stratagate tenant …` and `stratagate key …`: who may use this installation, and how much."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, fields
from typing import Annotated, Any

import typer
from rich.console import Console

from shared.auth import issue_key, replace_secret
from shared.domain.limits import Limits, effective_limits
from shared.domain.tenancy import Permission
from shared.settings import Settings, get_settings
from shared.store.audit import AuditEntry, record
from shared.store.database import Database, WriteTx
from shared.store.keys import KeyRow, list_keys, revoke_key
from shared.store.limits import limit_defaults
from shared.store.tenants import create_tenant, find_tenants, limits_of_tenant, set_limits

tenant_app = typer.Typer(help="Tenants: the customers of this installation.")
key_app = typer.Typer(help="API keys: what a client may do, as which tenant.")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
TenantOption = Annotated[str, typer.Option("--tenant", help="Tenant id or name.")]
_FIGURE = "A number, `off` for no limit, or `default` to follow the settings."
Figure = Annotated[str | None, typer.Option(help=_FIGURE)]
_OFF, _DEFAULT = "off", "default"
_MOST_KEYS = 1_000

_out = Console()


@tenant_app.command("create")
def tenant_create(name: str, as_json: AsJson = False) -> None:
    """Create a tenant."""
    tenant_id = create_tenant(get_settings(), name)
    _say({"tenant_id": tenant_id, "name": name}, as_json=as_json)


@tenant_app.command("list")
def tenant_list(as_json: AsJson = False) -> None:
    """List all tenants."""
    for tenant_id, name in find_tenants(get_settings()):
        _say({"tenant_id": tenant_id, "name": name}, as_json=as_json)


@tenant_app.command("limits")
def tenant_limits(
    tenant: Annotated[str, typer.Argument(help="Tenant id or name.")],
    requests_per_s: Figure = None,
    turns_per_day: Figure = None,
    tokens_per_day: Figure = None,
    storage_bytes: Figure = None,
    jobs_in_flight: Figure = None,
    as_json: AsJson = False,
) -> None:
    """Show or set what a tenant may ask, store and have under way; holds at once everywhere."""
    settings = get_settings()
    tenant_id = _one_tenant(settings, tenant)
    given = {
        "requests_per_s": requests_per_s,
        "turns_per_day": turns_per_day,
        "tokens_per_day": tokens_per_day,
        "storage_bytes": storage_bytes,
        "jobs_in_flight": jobs_in_flight,
    }
    change = {
        name: _figure(name, text)
        for name, text in given.items()
        if text is not None and text != _DEFAULT
    }
    to_default = [name for name, text in given.items() if text == _DEFAULT]
    if change or to_default:
        own = set_limits(settings, tenant_id, change, to_default=to_default)
    else:
        own = limits_of_tenant(settings, tenant_id)
    held = effective_limits(limit_defaults(settings), own)
    _say({"tenant_id": tenant_id, **_limits_view(held, as_json=as_json)}, as_json=as_json)


@key_app.command("create")
def key_create(
    tenant: TenantOption,
    label: Annotated[str, typer.Option(help="What the key is for.")] = "cli",
    permissions: Annotated[
        str, typer.Option(help="Comma-separated: ingest read use curate erase admin.")
    ] = "ingest,read,use",
    namespaces: Annotated[
        str | None, typer.Option(help="Comma-separated namespaces; absent: all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and show it, this once."""
    settings = get_settings()
    tenant_id = _one_tenant(settings, tenant)
    try:
        wanted = frozenset(Permission(part.strip()) for part in permissions.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{error}; use {', '.join(Permission)}") from error
    only = frozenset(part.strip() for part in namespaces.split(",")) if namespaces else None
    with closing(Database(settings)) as database, database.write(tenant_id) as tx:
        issued = issue_key(tx, label=label, permissions=wanted, namespaces=only)
        _audit(tx, "key_created", issued.key_id)
    _say({"tenant_id": tenant_id, "key_id": issued.key_id, "key": issued.key}, as_json=as_json)


@key_app.command("list")
def key_list(tenant: TenantOption, as_json: AsJson = False) -> None:
    """List a tenant's keys, newest first, never their secrets."""
    settings = get_settings()
    tenant_id = _one_tenant(settings, tenant)
    with closing(Database(settings)) as database, database.read(tenant_id) as tx:
        found = list_keys(tx, limit=_MOST_KEYS)
    for row in found:
        _say(_key_view(row), as_json=as_json)


@key_app.command("rotate")
def key_rotate(
    key_id: str,
    tenant: TenantOption,
    overlap_s: Annotated[
        int, typer.Option(min=0, help="Seconds for which the secret before still opens.")
    ] = 86_400,
    as_json: AsJson = False,
) -> None:
    """Give a key a new secret and show it, this once."""
    settings = get_settings()
    tenant_id = _one_tenant(settings, tenant)
    with closing(Database(settings)) as database, database.write(tenant_id) as tx:
        issued = replace_secret(tx, key_id, overlap_s=overlap_s)
        _audit(tx, "key_rotated", key_id, overlap_s=overlap_s)
    _say({**_key_view(issued.row), "key": issued.key}, as_json=as_json)


@key_app.command("revoke")
def key_revoke(key_id: str, tenant: TenantOption, as_json: AsJson = False) -> None:
    """End a key at once, on every process."""
    settings = get_settings()
    tenant_id = _one_tenant(settings, tenant)
    with closing(Database(settings)) as database, database.write(tenant_id) as tx:
        row = revoke_key(tx, key_id)
        _audit(tx, "key_revoked", key_id)
    _say(_key_view(row), as_json=as_json)


def _figure(name: str, text: str) -> float | int | None:
    if text == _OFF:
        return None
    try:
        value = float(text) if name == "requests_per_s" else int(text)
    except ValueError as error:
        raise typer.BadParameter(f"--{name.replace('_', '-')}: {_FIGURE}") from error
    lowest = 0.01 if name == "requests_per_s" else 0
    if not lowest <= value < 2**53:
        raise typer.BadParameter(f"--{name.replace('_', '-')} is at least {lowest:g}")
    return value


def _limits_view(limits: Limits, *, as_json: bool) -> dict[str, Any]:
    shown = asdict(limits)
    if as_json:
        return shown
    return {f.name: _OFF if shown[f.name] is None else shown[f.name] for f in fields(limits)}


def _key_view(row: KeyRow) -> dict[str, Any]:
    return {
        "key_id": row.key_id,
        "label": row.label,
        "permissions": ",".join(permission.value for permission in row.permissions),
        "namespaces": "all" if row.namespaces is None else ",".join(row.namespaces),
        "expires_at": str(row.expires_at or "never"),
        "revoked_at": str(row.revoked_at or "never"),
        "previous_until": str(row.previous_until or "never"),
    }


def _audit(tx: WriteTx, action: str, key_id: str, **more: int) -> None:
    record(tx, AuditEntry(action, subject=key_id, detail={"by": "command line", **more}))


def _one_tenant(settings: Settings, wanted: str) -> str:
    found = find_tenants(settings, wanted)
    if len(found) != 1:
        problem = "no tenant" if not found else "several tenants"
        raise typer.BadParameter(f"{problem} of that id or name: see `stratagate tenant list`")
    return found[0][0]


def _say(values: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(values))
    else:
        _out.print("\n".join(f"{name}: {value}" for name, value in values.items()), highlight=False)
