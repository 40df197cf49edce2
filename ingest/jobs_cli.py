"""The ledger on the command line: `jobs list|show|retry|cancel` and `dead-letters`, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from ingest.api_access import ApiKey, ApiUrl, AsJson, client_of, read
from ingest.posting import Refused, call
from shared.domain.jobs import JobKind, JobState

_out, _err = Console(), Console(stderr=True)
_LIST = "/v1/jobs"
_REMEDIES: Mapping[str, str] = {
    "transient": "the provider or the network failed: once it is well, retry",
    "truncated": "replies were cut off: raise max_output_tokens or the block size, then retry",
    "malformed": "the model does not keep to the shape: another model helps, then retry",
    "refused": "the model declined the text: another model may not",
    "permanent": "see the error; a retry alone ends the same way",
    "internal": "a fault of ours: report the error with the job's id",
}
"""What helps against each class of failure."""

jobs_app = typer.Typer(help="The ledger of jobs.", no_args_is_help=True)
JobIds = Annotated[list[str], typer.Argument(metavar="JOB…", help="Ids: job_…")]
Limit = Annotated[int, typer.Option(min=1, max=200, help="How many at most.")]
NamespaceOption = Annotated[str | None, typer.Option("--namespace", "-n", help="Absent: all.")]


@jobs_app.command("list")
def jobs_list(
    state: Annotated[JobState | None, typer.Option(help="Absent: all.")] = None,
    kind: Annotated[JobKind | None, typer.Option(help="Absent: all.")] = None,
    namespace: NamespaceOption = None,
    limit: Limit = 50,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    asked = {"state": state, "kind": kind, "namespace": namespace, "limit": limit}
    with client_of(api_url, api_key) as client:
        page = read(client, _LIST, asked)
    if as_json:
        typer.echo(json.dumps(page))
        return
    table = Table(_job_column(), "namespace", "kind", "state", "attempt", "due or ended", "reason")
    for job in page["items"]:
        attempt = f"{job['attempt']}/{job['max_attempts']}"
        when = job["finalized_at"] or job["scheduled_at"]
        words = (job["job_id"], job["namespace"], job["kind"], job["state"], attempt)
        table.add_row(*words, when, escape(job["reason"] or ""))
    _out.print(table if page["items"] else "no jobs")
    if page["next_cursor"]:
        _out.print("there are more: raise --limit, or narrow with --state, --kind, --namespace")


@jobs_app.command("show")
def jobs_show(
    job: Annotated[str, typer.Argument(metavar="JOB", help="An id: job_…")],
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Show one job with the errors of its attempts."""
    with client_of(api_url, api_key) as client:
        found = read(client, f"{_LIST}/{job}", {})
    if as_json:
        typer.echo(json.dumps(found))
        return
    for name, value in found.items():
        if value not in (None, [], {}) and name not in ("errors", "rejections"):
            _out.print(f"[bold]{name}[/]: {escape(str(value))}", highlight=False)
    for error in found["errors"]:
        _out.print(f"[red]attempt {error['attempt']}[/]: {escape(_words(error))}", highlight=False)
    for rejection in found["rejections"]:
        _out.print(f"[yellow]refused[/]: {escape(json.dumps(rejection))}", highlight=False)


@jobs_app.command("retry")
def jobs_retry(jobs: JobIds, api_url: ApiUrl = None, api_key: ApiKey = None) -> None:
    """Start dead, cancelled or degraded jobs again, with fresh attempts.

    Exit code 1 when one of them cannot be.
    """
    _change("retry", jobs, api_url, api_key)


@jobs_app.command("cancel")
def jobs_cancel(jobs: JobIds, api_url: ApiUrl = None, api_key: ApiKey = None) -> None:
    """End live jobs; what is running then changes nothing. Exit code 1 when one has ended."""
    _change("cancel", jobs, api_url, api_key)


def dead_letters(
    namespace: NamespaceOption = None,
    limit: Limit = 50,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Show dead jobs, why they died, and what helps. Exit code 1 when there are any."""
    asked = {"state": JobState.DEAD, "namespace": namespace, "limit": limit}
    with client_of(api_url, api_key) as client:
        page = read(client, _LIST, asked)
    if as_json:
        typer.echo(json.dumps(page))
    elif not page["items"]:
        _out.print("[green]no dead letters[/]")
    else:
        _out.print(_letters(page["items"]))
        _out.print("retry with `stratagate jobs retry JOB…`", highlight=False)
    if page["items"]:
        raise typer.Exit(1)


def _job_column() -> Column:
    """An id is there to be copied into the next command: a narrow terminal cuts other columns."""
    return Column("job", no_wrap=True, min_width=len("job_") + 32)


def _letters(jobs: Iterable[Mapping[str, Any]]) -> Table:
    table = Table(_job_column(), "namespace", "kind", "died", "last error", "what helps")
    for job in jobs:
        last = job["errors"][-1] if job["errors"] else {}
        table.add_row(
            job["job_id"],
            job["namespace"],
            job["kind"],
            job["finalized_at"],
            escape(_words(last) if last else job["reason"] or ""),
            _REMEDIES.get(last.get("class", ""), ""),
        )
    return table


def _words(error: Mapping[str, Any]) -> str:
    return f"{error['code']} ({error['class']}): {error['detail']}"


def _change(verb: str, jobs: list[str], api_url: str | None, api_key: str | None) -> None:
    refused = 0
    with client_of(api_url, api_key) as client:
        for job in jobs:
            try:
                changed = call(client, f"{_LIST}/{job}/{verb}", None)
            except Refused as error:
                refused += 1
                _err.print(f"[bold red]{job}[/]: {escape(error.detail)}", highlight=False)
            else:
                _out.print(f"{job}: {changed['state']}", highlight=False)
    if refused:
        raise typer.Exit(1)
