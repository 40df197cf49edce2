"""Put the report together: its chapters in order, and what was not run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.errors import InvalidInput
from workers.evaluation.report.ablations import ablations_section
from workers.evaluation.report.answers import answers_section
from workers.evaluation.report.curves import curves_section
from workers.evaluation.report.figures import Figure
from workers.evaluation.report.growth import growth_section, search_scale_section
from workers.evaluation.report.markdown import Section
from workers.evaluation.report.performance import (
    ingest_section,
    memory_section,
    pipeline_section,
    reprojection_section,
)
from workers.evaluation.report.retrieval import retrieval_section
from workers.evaluation.results import Results, read_results

_BEGINNING: Final = """\
# Evaluation report

<!-- Made by `stratagate eval report` from docs/evaluation/results. Do not edit. -->

Every table and plot is made by `stratagate eval report` from the results files named under it. A
results file carries the code's commit, the configuration, the data's hash and the machine, and a
digest that makes an edited one unreadable; a test makes this page again and compares. How to run
each measurement: [benchmarks](../howto/benchmarks.md). Figures of different machines, or of
different commits, are not to be compared with each other."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter: the kind of results it shows, and the command that gives such results."""

    title: str
    kind: str
    command: str
    section: Callable[[Sequence[Results]], Section]


CHAPTERS: Final = (
    Chapter("Retrieval", "retrieval", "stratagate eval retrieval FILE", retrieval_section),
    Chapter("Ablations", "ablations", "stratagate eval ablate FILE", ablations_section),
    Chapter("Answers", "answers", "stratagate eval answers FILE --out DIR", answers_section),
    Chapter("Cost and decay", "curves", "stratagate eval curves [FILE]", curves_section),
    Chapter("Growth", "search-scale", "python3 -m deploy bench --only growth", growth_section),
    Chapter(
        "Search beside the least work",
        "search-scale",
        "python3 -m deploy bench --only search",
        search_scale_section,
    ),
    Chapter("Ingest", "ingest", "python3 -m deploy bench --only ingest", ingest_section),
    Chapter("Pipeline", "pipeline", "python3 -m deploy bench --only pipeline", pipeline_section),
    Chapter(
        "Re-projection",
        "reprojection",
        "python3 -m deploy bench --only reprojection",
        reprojection_section,
    ),
    Chapter("Memory", "memory", "python3 -m deploy bench --only memory", memory_section),
)


@dataclass(frozen=True, slots=True)
class Page:
    """The report: its text and the figures that it shows."""

    text: str
    figures: Sequence[Figure]


def results_of(folder: Path) -> list[Results]:
    """Read every results file of a folder, by name; InvalidInput for one that was edited."""
    found = [read_results(path) for path in sorted(folder.glob("*.json"))]
    known = {chapter.kind for chapter in CHAPTERS}
    for one in found:
        if one.kind not in known:
            raise InvalidInput(f"{one.path}: the report has no chapter for results of {one.kind}")
    return found


def page_of(results: Sequence[Results], *, results_at: str = "results") -> Page:
    """Return the whole page; kinds without results are named as not run.

    `results_at` is where the page finds the results files, seen from its own folder.
    """
    overview = Section("What was run")
    rows: list[tuple[str, str, str]] = []
    sections: list[Section] = []
    for chapter in CHAPTERS:
        mine = [one for one in results if one.kind == chapter.kind]
        files = ", ".join(f"[{one.path.name}](results/{one.path.name})" for one in mine)
        rows.append((chapter.title, files or "**not run**", f"`{chapter.command}`"))
        if mine:
            sections.append(chapter.section(mine))
    overview.add_table(("chapter", "results", "command"), rows, words=3)
    texts = [_BEGINNING, *(section.text() for section in (overview, *sections))]
    figures = [figure for section in sections for figure in section.figures]
    text = "\n\n".join(texts).replace("](results/", f"]({results_at}/")
    return Page(text + "\n", figures)
