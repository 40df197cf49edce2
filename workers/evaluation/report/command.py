"""`stratagate eval report`: make the report's page and plots from results files."""

from __future__ import annotations

from os.path import relpath
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from workers.evaluation.report.drawing import draw
from workers.evaluation.report.page import page_of, results_of

_err = Console(stderr=True)


def eval_report(
    results: Annotated[
        Path, typer.Option(exists=True, file_okay=False, help="Folder of results files.")
    ] = Path("docs/evaluation/results"),
    out: Annotated[
        Path, typer.Option(dir_okay=False, help="The page; its plots go to plots/ beside it.")
    ] = Path("docs/evaluation/report.md"),
) -> None:
    """Make one page of tables and plots from all results files; needs no installation."""
    results_at = Path(relpath(results, out.parent)).as_posix()
    page = page_of(results_of(results), results_at=results_at)
    draw(page.figures, out.parent / "plots")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page.text, encoding="utf-8")
    _err.print(f"Wrote {out} and {len(page.figures)} plots")
