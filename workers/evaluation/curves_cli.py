"""`stratagate eval curves`: what a context costs as a conversation grows, what it still holds."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from workers.evaluation.access import api_client
from workers.evaluation.curves import Curve, as_result, grow
from workers.evaluation.curves_generated import generated
from workers.evaluation.question_set import Conversation
from workers.evaluation.questions import load_questions
from workers.evaluation.results import write_results

_out = Console(width=140)
_err = Console(stderr=True)


def eval_curves(
    file: Annotated[
        Path | None,
        typer.Argument(exists=True, readable=True, help="LoCoMo or JSONL; none: generated."),
    ] = None,
    turns: Annotated[
        int, typer.Option(min=1, help="Without a file: turns of the generated conversation.")
    ] = 3_000,
    points: Annotated[int, typer.Option(min=1, help="How often to look at the context.")] = 24,
    block_turns: Annotated[
        int | None, typer.Option(min=1, help="Turns of a block; default: the installation's.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write this results file.")
    ] = None,
    api_url: Annotated[str | None, typer.Option("--api-url", help="Where the API is.")] = None,
    api_key: Annotated[
        str | None, typer.Option("--api-key", help="Better in STRATAGATE_API_KEY.")
    ] = None,
) -> None:
    """Grow each conversation in a new namespace; print its context's cost and what it holds."""
    conversations, data = _conversations(file, turns)
    prefix = f"curves-{secrets.token_hex(4)}"
    columns = (TextColumn("turns"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    curves: list[Curve] = []
    with api_client(api_url, api_key) as client, Progress(*columns, console=_err) as progress:
        task = progress.add_task("turns", total=sum(len(one.turns) for one in conversations))
        for number, conversation in enumerate(conversations):
            curve = grow(
                client,
                conversation,
                namespace=f"{prefix}:{number}",
                points=points,
                block_turns=block_turns,
                on_turns=lambda posted: progress.advance(task, posted),
            )
            curves.append(curve)
    result = as_result(curves)
    _show(result)
    if json_file is not None:
        configuration = {
            "conversations": [one.id for one in conversations],
            "points": points,
            "block_turns": block_turns or "the installation's",
            "extract": False,
        }
        write_results(json_file, "curves", result, configuration=configuration, data=data)
        _err.print(f"Wrote {json_file}")


def _conversations(
    file: Path | None, turns: int
) -> tuple[Sequence[Conversation], Mapping[str, str] | None]:
    if file is None:
        return [generated(turns)], None
    found = load_questions(file)
    return found.conversations, {"name": found.name, "sha256": found.sha256}


def _show(result: Mapping[str, Any]) -> None:
    for conversation in result["conversations"]:
        table = Table(title=f"Context of {conversation['id']}", box=None, pad_edge=False)
        for head in ("turns", "history", "context", "share", "blocks by level"):
            table.add_column(head, justify="right")
        for point in conversation["points"]:
            tokens = point["tokens"]
            levels = ", ".join(f"{level} {count}" for level, count in point["levels"].items())
            share = f"{100 * tokens['context'] / max(1, tokens['history']):.0f} %"
            table.add_row(
                str(point["turns"]), str(tokens["history"]), str(tokens["context"]), share, levels
            )
        _out.print(table)
    table = Table(title="Evidence that the context holds", box=None, pad_edge=False)
    heads = ("age in turns", "questions", "verbatim, all", "any", "told, all", "any")
    for head in heads:
        table.add_column(head, justify="right")
    for row in result["by_age"]:
        age = f"{row['from']} and more" if row["to"] is None else f"{row['from']} to {row['to']}"
        figures = (row[m] for m in ("verbatim_all", "verbatim_any", "told_all", "told_any"))
        table.add_row(age, str(row["questions"]), *(f"{100 * figure:.1f} %" for figure in figures))
    _out.print(table)
