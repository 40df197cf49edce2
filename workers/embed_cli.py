"""`stratagate embed`: give what a namespace holds vectors of the current model, or tell how far
that is. Works on the database; the workers do the embedding, on the queue `backfill`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from shared.embeddings.port import EmbeddingError
from shared.embeddings.registry import embedder_of
from shared.errors import InvalidInput, NotFound
from shared.settings import Settings, get_settings
from shared.store.database import Database
from shared.store.namespaces import get_namespace, list_namespaces, policy_defaults
from shared.store.tenants import find_tenants
from shared.store.vector_reads import count_vectors
from shared.store.vectors import VectorModel, request_backfill, wants_vectors

_PAGE: Final = 500
_out = Console()


def embed(
    namespace: Annotated[
        str | None, typer.Option("--namespace", help="One namespace; absent: give --all.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every namespace whose policy wants vectors.")
    ] = False,
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Tenant id or name; absent: all tenants.")
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Only show which models' vectors there are.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")] = False,
) -> None:
    """Embed what has no vector of the current model: after a change of model, or the first time.

    Running it again joins the jobs that are live. What the model refused before is tried again.
    """
    if (namespace is None) == (not everything):
        raise typer.BadParameter("give either --namespace or --all")
    settings = get_settings()
    current = None if status else _current(settings)
    database = Database(settings)
    try:
        rows = list(_rows(database, settings, tenant=tenant, only=namespace, status=status))
    finally:
        database.close()
    if namespace is not None and not rows:
        raise NotFound("no tenant has that namespace, or its policy switches vectors off")
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    else:
        _out.print(_table(rows, current))


def _current(settings: Settings) -> VectorModel:
    try:
        embedder = embedder_of(settings)
    except EmbeddingError as error:
        raise InvalidInput(error.detail, code=error.code) from error
    return VectorModel(embedder.model, embedder.dimension)


def _rows(
    database: Database, settings: Settings, *, tenant: str | None, only: str | None, status: bool
) -> Iterator[dict[str, Any]]:
    for tenant_id, name in find_tenants(settings, tenant):
        for namespace in _namespaces(database, tenant_id, only):
            row = _one(database, settings, tenant_id, namespace, status=status)
            if row is not None:
                yield {"tenant": name, "namespace": namespace, **row}


def _one(
    database: Database, settings: Settings, tenant_id: str, namespace: str, *, status: bool
) -> dict[str, Any] | None:
    """Enqueue one namespace's job, or None where its policy wants no vectors."""
    with database.write(tenant_id) as tx:
        found = [
            {"model": one.model.name, "dimension": one.model.dimension, "vectors": one.vectors}
            for one in count_vectors(tx, namespace)
        ]
        if status:
            return {"stored": found}
        policy = get_namespace(tx, namespace, defaults=policy_defaults(settings)).policy
        if not wants_vectors(settings, policy):
            return None
        job_id = request_backfill(tx, namespace, max_attempts=settings.max_attempts)
        return {"stored": found, "job_id": job_id}


def _namespaces(database: Database, tenant_id: str, only: str | None) -> Iterator[str]:
    after: str | None = None
    while True:
        with database.read(tenant_id) as tx:
            wanted = None if only is None else frozenset({only})
            names = list_namespaces(tx, after=after, limit=_PAGE, only=wanted)
        yield from names
        if len(names) < _PAGE:
            return
        after = names[-1]


def _table(rows: list[dict[str, Any]], current: VectorModel | None) -> Table:
    title = None if current is None else f"to {current.name}, {current.dimension} numbers"
    table = Table("tenant", "namespace", "vectors now", "job", title=title)
    for row in rows:
        stored = ", ".join(f"{one['vectors']} by {one['model']}" for one in row["stored"])
        table.add_row(row["tenant"], row["namespace"], stored or "none", row.get("job_id", ""))
    return table
