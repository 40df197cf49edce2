"""`stratagate eval answers`: let a model answer labelled questions, with and without memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from shared.settings import get_settings
from workers.evaluation.access import api_client
from workers.evaluation.answering.answered import Mode
from workers.evaluation.answering.answering_modes import Answerer, AnswerOptions
from workers.evaluation.answering.artefacts import Artefacts
from workers.evaluation.answering.endpoint import EndpointModel
from workers.evaluation.answering.kept_replies import KeptReplies
from workers.evaluation.answering.loading import loaded_tools
from workers.evaluation.answering.loop import LoopOptions
from workers.evaluation.answering.memory_tools import described_tools
from workers.evaluation.answering.options import (
    ALL_MODES,
    RunOptions,
    configuration_of,
    identity_of,
    plan_of,
)
from workers.evaluation.answering.running import Plan, run_answers, run_judges
from workers.evaluation.answering.summary import Prices, summary_of
from workers.evaluation.answering.tables import tables_of
from workers.evaluation.questions import load_questions
from workers.evaluation.results import write_results

_INTERRUPTED: Final = 130
_out = Console(width=160)
_err = Console(stderr=True)


def eval_answers(
    file: Annotated[Path, typer.Argument(exists=True, readable=True)],
    out: Annotated[
        Path, typer.Option(help="Folder of the artefacts, with all texts; continues a run there.")
    ],
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the results, without texts, here.")
    ] = None,
    conversations: Annotated[
        str | None, typer.Option(help="Only these conversations, by commas.")
    ] = None,
    questions: Annotated[
        int | None, typer.Option(min=1, help="So many questions, spread over the categories.")
    ] = None,
    choice_seed: Annotated[int, typer.Option(help="Which ones: see docs/evaluation.")] = 1,
    modes: Annotated[str, typer.Option(help="What answers rest on, by commas.")] = ALL_MODES,
    seeds: Annotated[int, typer.Option(min=1, help="System seeds: each answers everything.")] = 1,
    judges: Annotated[int, typer.Option(min=1, help="Runs of each judge on an answer.")] = 3,
    budget: Annotated[int, typer.Option(min=1, help="Retrievals of one memory answer.")] = 3,
    shown: Annotated[int, typer.Option(min=1, help="Items shown of a tool's reply.")] = 5,
    characters: Annotated[int, typer.Option(min=40, help="Of each of them.")] = 240,
    sentences: Annotated[
        int, typer.Option(min=0, help="Of each tool's description; 0: all of them.")
    ] = 0,
    top_k: Annotated[int, typer.Option(min=1, help="Messages of plain search and grep.")] = 10,
    full_tokens: Annotated[int, typer.Option(min=100, help="Of the full context.")] = 6_000,
    temperature: Annotated[float, typer.Option(min=0, max=2, help="Of the answers.")] = 0.3,
    with_advisories: Annotated[
        bool, typer.Option("--advisories/--no-advisories", help="Show the gate's advisories.")
    ] = True,
    parallel: Annotated[int, typer.Option(min=1, help="Answers at a time.")] = 4,
    input_price: Annotated[float, typer.Option(min=0, help="Of a million tokens in.")] = 0.0,
    output_price: Annotated[float, typer.Option(min=0, help="Of a million tokens out.")] = 0.0,
    prefix: Annotated[str, typer.Option(help="Namespaces are PREFIX-answers-SEED:ID.")] = "eval",
    api_url: Annotated[str | None, typer.Option("--api-url", help="Where the API is.")] = None,
    api_key: Annotated[
        str | None, typer.Option("--api-key", help="Better in STRATAGATE_API_KEY.")
    ] = None,
) -> None:
    """Answer labelled questions with and without memory, judge the answers, sort the failures.

    The model is STRATAGATE_EVAL_ENDPOINT (name@https://host/v1), its key STRATAGATE_EVAL_KEY.
    """
    options = RunOptions(
        file=file,
        out=out,
        conversations=conversations,
        questions=questions,
        choice_seed=choice_seed,
        modes=modes,
        seeds=seeds,
        judges=judges,
        budget=budget,
        shown=shown,
        characters=characters,
        sentences=sentences,
        top_k=top_k,
        full_tokens=full_tokens,
        temperature=temperature,
        with_advisories=with_advisories,
        parallel=parallel,
        prefix=prefix,
        api_url=api_url,
        api_key=api_key,
    )
    try:
        told, configuration, data = _run(options, Prices(input_price, output_price))
    except KeyboardInterrupt:
        _err.print(f"Stopped; the same command with --out {out} continues.")
        raise typer.Exit(_INTERRUPTED) from None
    for table in tables_of(told):
        _out.print(table, "")
    if json_file is not None:
        write_results(json_file, "answers", told, configuration=configuration, data=data)


def _run(
    options: RunOptions, prices: Prices
) -> tuple[dict[str, Any], dict[str, Any], Mapping[str, str]]:
    questions = load_questions(options.file)
    plan = plan_of(options, questions)
    endpoint = _endpoint()
    configuration = configuration_of(options, plan, questions, model=endpoint.name)
    artefacts = Artefacts(options.out, identity_of(configuration))
    model = KeptReplies(endpoint, artefacts.replies)
    with _client(options, plan) as client, _Bars() as bars:
        answerer = _answerer(options, plan, model, client)
        run_answers(plan, answerer, artefacts, parallel=options.parallel, progress=bars)
        run_judges(plan, model, artefacts, parallel=options.parallel, progress=bars)
    data = {"name": questions.name, "sha256": questions.sha256}
    return summary_of(plan, artefacts, prices), configuration, data


def _endpoint() -> EndpointModel:
    settings = get_settings()
    return EndpointModel.named(settings.eval_endpoint or "", settings.eval_key)


def _client(options: RunOptions, plan: Plan) -> AbstractContextManager[httpx.Client | None]:
    """Return a client of the API where a mode needs it: the others run without an installation."""
    if Mode.MEMORY not in plan.modes:
        return nullcontext()
    return api_client(options.api_url, options.api_key)


def _answerer(
    options: RunOptions, plan: Plan, model: KeptReplies, client: httpx.Client | None
) -> Answerer:
    tools, described = {}, ""
    if client is not None:
        described = described_tools(client, sentences=options.sentences)
        tools = loaded_tools(
            client,
            list({conversation.id: conversation for conversation, _ in plan.asked}.values()),
            prefix=options.prefix,
            seeds=plan.seeds,
            shown=options.shown,
            characters=options.characters,
        )
    loop = LoopOptions(described, options.budget, options.temperature, options.with_advisories)
    shape = AnswerOptions(loop, options.top_k, options.full_tokens, options.temperature)
    return Answerer(model, shape, tools)


class _Bars(Progress):
    """Progress bars on the terminal, one for each part of the run."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description:16}"), BarColumn(), MofNCompleteColumn())
        super().__init__(*columns, TimeElapsedColumn(), console=_err)

    def begin(self, what: str, total: int, done: int) -> Callable[[], None]:
        """Show a bar for one part."""
        task = self.add_task(what, total=total, completed=done)
        return lambda: self.advance(task)
