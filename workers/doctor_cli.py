"""`stratagate doctor`: looks at database, ledger and broker, says what is wrong and what helps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shared.embeddings.packed import pack
from shared.embeddings.port import EmbeddingError
from shared.embeddings.registry import embedder_of, is_on
from shared.errors import Unavailable
from shared.settings import Settings, get_settings
from shared.store.database import Database, QueueDatabase
from shared.store.job_samples import LedgerHealth, Patience, ledger_health
from shared.store.migrate import current_revision, head_revision
from shared.store.vector_reads import stored_models
from shared.store.vectors import VectorModel
from workers.doctor import Finding, Seen, VectorsSeen, examine

Consumers = Callable[[], Mapping[str, Sequence[str]] | None]
_OLDEST_ALLOWED_S = 300.0
_STUCK_S = 30.0
_EMBED_S = 10.0


def doctor(
    max_age_s: Annotated[
        float, typer.Option(help="A due job may wait this long, in seconds.", min=0)
    ] = _OLDEST_ALLOWED_S,
    stuck_s: Annotated[
        float,
        typer.Option(help="Unrung or expired for this long counts as stuck, in seconds.", min=0),
    ] = _STUCK_S,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")] = False,
) -> None:
    """Find what keeps jobs from moving, and explain it with its remedy.

    Looks at the database and the broker directly. Exit code 1 when something is wrong.
    """
    from workers.app import consumers  # noqa: PLC0415 - Celery; `look` does without

    settings = get_settings()
    findings = look(settings, consumers, max_age_s=max_age_s, stuck_s=stuck_s)
    wrong = [finding for finding in findings if not finding.is_ok]
    if as_json:
        report = {"ok": not wrong, "findings": [asdict(finding) for finding in findings]}
        typer.echo(json.dumps(report, indent=2))
    else:
        Console().print(_table(findings))
    if wrong:
        raise typer.Exit(1)


def look(
    settings: Settings, consumers: Consumers, *, max_age_s: float, stuck_s: float
) -> list[Finding]:
    """Look at everything and return the findings; what is away is a finding, not an error."""
    expected = head_revision()
    revision, health, is_there = None, None, True
    vectors: VectorsSeen | None = None
    try:
        revision = _revision(settings)
        if revision == expected:
            health = _health(settings, stuck_s)
            vectors = _vectors(settings)
    except Unavailable:
        is_there = False
    seen = Seen(
        revision,
        expected,
        health,
        consumers(),
        max_age_s,
        is_database_there=is_there,
        vectors=vectors,
    )
    return examine(seen)


def _revision(settings: Settings) -> str | None:
    database = Database(settings)
    try:
        with database.anonymous():
            pass
        return current_revision(database)
    finally:
        database.close()


def _health(settings: Settings, stuck_s: float) -> LedgerHealth:
    patience = Patience(
        stuck_s=stuck_s,
        ring_again_after_s=settings.ring_again_after_s,
        tenant_cap=settings.in_flight_per_tenant,
        queue_cap=settings.in_flight_per_queue,
        backfill_cap=settings.in_flight_backfill,
    )
    queue = QueueDatabase(settings)
    try:
        with queue.transaction() as tx:
            return ledger_health(tx, patience)
    finally:
        queue.close()


def _vectors(settings: Settings) -> VectorsSeen | None:
    """Ask the embedder for one vector, and count those of other models; None where it is off."""
    if not is_on(settings):
        return None
    model, wrong = None, None
    try:
        embedder = embedder_of(settings)
        model = VectorModel(embedder.model, embedder.dimension)
        pack(embedder.query("What was said?", timeout_s=_EMBED_S), dimension=embedder.dimension)
    except EmbeddingError as error:
        wrong = f"{error.code}: {error.detail}"
    queue = QueueDatabase(settings)
    try:
        with queue.transaction() as tx:
            stored = stored_models(tx)
    finally:
        queue.close()
    others = {
        f"{one.model.name} ({one.model.dimension})": one.vectors
        for one in stored
        if one.model != model
    }
    return VectorsSeen(model.name if model else "unknown", wrong, others)


def _table(findings: Sequence[Finding]) -> Table:
    table = Table("", "check", "found", "what helps", show_lines=True)
    for finding in findings:
        mark = "[green]ok[/]" if finding.is_ok else "[bold red]wrong[/]"
        table.add_row(mark, finding.check, escape(finding.found), escape(finding.remedy))
    return table
