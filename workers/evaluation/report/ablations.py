"""The chapter on ablations: what each part contributes, paired, with intervals; zeros stand too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workers.evaluation.report.figures import Dot, Dots, Figure
from workers.evaluation.report.markdown import Section, percent, points, source_line
from workers.evaluation.results import Results

_MAIN: Final = {"context": "evidence", "messages": "R@10", "blocks": "R@10", "events": "R@10"}
_TOKENS: Final = "tokens"


def ablations_section(results: Sequence[Results]) -> Section:
    """Return the chapter, a part for each results file."""
    section = Section("Ablations")
    section.say(
        "One part is taken out, everything else stays. *Change* is without it minus with it, "
        "paired question by question, in percentage points (tokens as they are): **negative means "
        "that the part helps**. An interval that holds 0 shows no effect on these conversations. "
        "What decay takes out of a context stands beside the tokens that it saves."
    )
    for one in results:
        _add(section, one)
    return section


def _add(section: Section, one: Results) -> None:
    result = one.result
    section.say(f"### {one.path.stem}")
    vectors = result["vectors"]
    section.say(
        f"{result['answerable']} answerable of {result['questions']} questions on "
        f"{result['conversations']} conversations; "
        + (f"vectors by {vectors}." if vectors else "no vectors.")
    )
    section.add_table(
        ("ablation", "takes out", "switched by", "can move", "known beforehand"),
        (
            (
                row["name"],
                row["takes_out"],
                row["switched_by"],
                ", ".join(row["can_move"]),
                row["by_construction"],
            )
            for row in result["ablations"]
        ),
        words=5,
    )
    section.add_figure(_forest(result["effects"], one))
    section.add_table(
        (
            "ablation", "of", "measure", "questions", "with", "without", "change",
            "by question", "by conversation",
        ),
        (_row(effect) for effect in result["effects"]),
        words=3,
    )  # fmt: skip
    for skipped in result["skipped"]:
        section.say(f"Not measured: {skipped['name']}, {skipped['reason']}.")
    section.say(source_line(one))


def _row(effect: Mapping[str, Any]) -> tuple[str, ...]:
    whole, change = _formats(effect["measure"])
    return (
        effect["ablation"],
        effect["unit"],
        effect["measure"],
        str(effect["questions"]),
        whole(effect["whole"]),
        whole(effect["without"]),
        change(effect["change"]),
        f"{change(effect['low'])} to {change(effect['high'])}",
        f"{change(effect['low_by_conversation'])} to {change(effect['high_by_conversation'])}",
    )


def _formats(measure: str) -> tuple[Any, Any]:
    if measure != _TOKENS:
        return percent, points

    def signed(value: float | None) -> str:
        return "–" if value is None else f"{value:+.0f}".replace("-", "−")

    return lambda value: f"{value:.0f}", signed


def _forest(effects: Sequence[Mapping[str, Any]], one: Results) -> Figure:
    units = list(dict.fromkeys(effect["unit"] for effect in effects))
    panels = []
    for unit in units:
        mine = [effect for effect in effects if effect["unit"] == unit]
        measures = [effect["measure"] for effect in mine]
        main = _MAIN.get(unit) if _MAIN.get(unit) in measures else measures[0]
        dots = [
            Dot(e["ablation"], 100 * e["change"], 100 * e["low"], 100 * e["high"])
            for e in mine
            if e["measure"] == main
        ]
        panels.append(
            Dots(f"{unit}: {main}", "change in points; left of 0: the part helps", dots, True)
        )
    caption = f"What taking a part out changes, with 95 % intervals by question, {one.path.stem}"
    return Figure(one.path.stem, caption, panels, [one.digest])
