"""The chapter on cost and decay: tokens as a conversation grows, what the context still holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workers.evaluation.report.figures import Figure, Line, Lines
from workers.evaluation.report.markdown import Section, percent, source_line
from workers.evaluation.results import Results

_MEASURES: Final = {
    "verbatim_all": "verbatim, all",
    "verbatim_any": "verbatim, any",
    "told_all": "told, all",
    "told_any": "told, any",
}
_ROWS: Final = 8
"""How many points of a long curve stand in a table; the plot has them all."""


def curves_section(results: Sequence[Results]) -> Section:
    """Return the chapter, a part for each results file."""
    section = Section("Cost and decay")
    section.say(
        "A conversation is posted to one thread; at evenly spaced turns its context is asked for, "
        "without a query. *History* is what all its turns would cost verbatim, *context* what the "
        "context costs: blocks at their level with their headers, and the open tail. Tokens are "
        "the product's estimate for both. Blocks were summarised by the installation's model (the "
        "rules, where nothing else is said); a language model's summaries have other words."
    )
    section.say(
        "Evidence is *verbatim* where the whole text of the message stands in the context, *told* "
        "where at least half of its search terms stand in its own block at its level. Of a "
        "question with several pieces of evidence, *all* or *any* of them; its age is that of the "
        "oldest. What is gone from the context is not gone from memory: the tools find it."
    )
    for one in results:
        _add(section, one)
    return section


def _add(section: Section, one: Results) -> None:
    conversations = one.result["conversations"]
    section.say(f"### {one.path.stem}")
    section.add_table(
        (
            "conversation", "turns", "history", "context", "of the history", "blocks by level",
            *_MEASURES.values(),
        ),
        (
            (
                conversation["id"],
                str(point["turns"]),
                f"{point['tokens']['history']:,}",
                f"{point['tokens']['context']:,}",
                f"{_share(point)} %",
                ", ".join(f"{level} {count}" for level, count in point["levels"].items()) or "–",
                *(percent(point["answerable"][measure]) for measure in _MEASURES),
            )
            for conversation in conversations
            for point in _chosen(conversation["points"], 1 if len(conversations) > 1 else _ROWS)
        ),
    )  # fmt: skip
    section.add_figure(_figure(one))
    section.say("Evidence that stands in the context, in percent, by its age in turns.")
    section.add_table(
        ("age in turns", "questions", "looked at", *_MEASURES.values()),
        (
            (
                _age(row),
                str(row["questions"]),
                str(row["times"]),
                *(percent(row[measure]) for measure in _MEASURES),
            )
            for row in one.result["by_age"]
        ),
    )
    section.say(source_line(one))


def _figure(one: Results) -> Figure:
    cost: list[Line] = []
    for conversation in one.result["conversations"]:
        points = conversation["points"]
        turns = [point["turns"] for point in points]
        for what in ("history", "context"):
            tokens = [point["tokens"][what] for point in points]
            cost.append(Line(f"{conversation['id']}: {what}", turns, tokens, what == "history"))
    ages = one.result["by_age"]
    held = [
        Line(label, [max(1, row["from"]) for row in ages], [100 * row[m] for row in ages])
        for m, label in _MEASURES.items()
    ]
    return Figure(
        one.path.stem,
        f"Tokens of the context and of the whole history, and evidence still in the context, "
        f"{one.path.stem}",
        [
            Lines("Cost", "turns of the conversation", "estimated tokens", cost),
            Lines("What it still holds", "age from, in turns", "% of questions", held, log_x=True),
        ],
        [one.digest],
    )


def _chosen(points: Sequence[Mapping[str, Any]], rows: int) -> list[Mapping[str, Any]]:
    """Return so many points, evenly spaced, the last one among them."""
    count = len(points)
    places = sorted({-(-count * place // rows) - 1 for place in range(1, rows + 1)})
    return [points[place] for place in places if place >= 0]


def _share(point: Mapping[str, Any]) -> str:
    tokens = point["tokens"]
    return percent(tokens["context"] / max(1, tokens["history"]))


def _age(row: Mapping[str, Any]) -> str:
    return f"{row['from']} and more" if row["to"] is None else f"{row['from']} to {row['to']}"
