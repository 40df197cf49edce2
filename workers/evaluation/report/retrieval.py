"""The chapter on retrieval: each system with its intervals, by category, beside the baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workers.evaluation.report.figures import Dot, Dots, Figure
from workers.evaluation.report.markdown import (
    Section,
    between,
    number,
    percent,
    points,
    source_line,
)
from workers.evaluation.results import Results

_ALL: Final = "all"
_SHOWN: Final = ("R@1", "R@10", "R@50", "full@10", "MRR", "nDCG@10")
_BY_CATEGORY: Final = {"context": "evidence"}
_MAIN: Final = "R@10"
_Cells = Mapping[tuple[str, str, str, str], Mapping[str, Any]]


def retrieval_section(results: Sequence[Results]) -> Section:
    """Return the chapter, a part for each results file."""
    section = Section("Retrieval")
    section.say(
        "How much of the labelled evidence is found, in percent, over the answerable questions. "
        "*R@k* is the mean share of a question's evidence among the first k, *full@k* how often "
        "all of it is. In brackets the 95 % interval by question: resampling the questions of "
        "these conversations. The interval by conversation is wider and stands in the results file."
    )
    for one in results:
        _add(section, one)
    return section


def _add(section: Section, one: Results) -> None:
    result = one.result
    section.say(f"### {one.path.stem}")
    section.say(
        f"{result['questions']} questions on {result['conversations']} conversations "
        f"({result['messages']} messages), {result['answerable']} of them answerable; "
        f"{result['left_out']} without known evidence are left out. "
        f"{result['degraded']} searches lacked a lane."
    )
    cells = {(c["unit"], c["system"], c["category"], c["measure"]): c for c in result["cells"]}
    _add_overall(section, cells)
    section.add_figure(_figure(cells, one))
    _add_categories(section, cells)
    _add_differences(section, result["differences"])
    _add_abstention(section, result["abstention"])
    if result["latencies"]:
        section.add_table(
            ("request", "count", "p50 ms", "p95 ms"),
            (
                (row["request"], str(row["count"]), number(row["p50_ms"]), number(row["p95_ms"]))
                for row in result["latencies"]
            ),
        )
    for skipped in result["skipped"]:
        section.say(f"Not measured: {skipped['name']}, {skipped['reason']}.")
    section.say(source_line(one))


def _add_overall(section: Section, cells: _Cells) -> None:
    ranked = [pair for pair in _systems(cells) if pair[0] != "context"]
    section.add_table(
        ("ranks", "system", *_SHOWN),
        (
            (unit, system, *(_told(cells.get((unit, system, _ALL, m))) for m in _SHOWN))
            for unit, system in ranked
        ),
        words=2,
    )
    given = [pair for pair in _systems(cells) if pair[0] == "context"]
    if given:
        section.add_table(
            ("what is given whole", "evidence in it", "all of it in it", "tokens"),
            (
                (
                    system,
                    _told(cells.get((unit, system, _ALL, "evidence"))),
                    _told(cells.get((unit, system, _ALL, "full"))),
                    number(cells[unit, system, _ALL, "tokens"]["mean"])
                    if (unit, system, _ALL, "tokens") in cells
                    else "–",
                )
                for unit, system in given
            ),
        )


def _add_categories(section: Section, cells: _Cells) -> None:
    categories = sorted({category for _, _, category, _ in cells} - {_ALL})
    if not categories:
        return
    counts = {c: max(x["questions"] for k, x in cells.items() if k[2] == c) for c in categories}
    section.say(
        "By category: R@10, of a context the share of the evidence in it; in brackets above, how "
        "many questions. LoCoMo's are 1 several hops, 2 time, 3 open domain, 4 one hop, "
        "5 unanswerable, which no mean over all holds."
    )
    section.add_table(
        ("ranks", "system", *(f"{c} ({counts[c]})" for c in categories)),
        (
            (
                unit,
                system,
                *(
                    _told(cells.get((unit, system, c, _BY_CATEGORY.get(unit, _MAIN))))
                    for c in categories
                ),
            )
            for unit, system in _systems(cells)
            if any((unit, system, c, _BY_CATEGORY.get(unit, _MAIN)) in cells for c in categories)
        ),
        words=2,
    )


def _add_differences(section: Section, differences: Sequence[Mapping[str, Any]]) -> None:
    shown = [row for row in differences if row["measure"] in (_MAIN, "MRR", "evidence")]
    if not shown:
        return
    section.say("Paired differences in percentage points, the first system minus the second.")
    section.add_table(
        ("ranks", "system", "against", "measure", "difference", "by question", "by conversation"),
        (
            (
                row["unit"],
                row["system"],
                row["against"],
                row["measure"],
                points(row["mean"]),
                f"{points(row['low'])} to {points(row['high'])}",
                f"{points(row['low_by_conversation'])} to {points(row['high_by_conversation'])}",
            )
            for row in shown
        ),
        words=4,
    )


def _add_abstention(section: Section, told: Mapping[str, Any] | None) -> None:
    if told is None:
        return
    section.say(
        f"**Likely unanswerable.** {told['unanswerable']} of {told['questions']} questions cannot "
        f"be answered. Doubt tells them apart with an area under the curve of {told['area']:.3f} "
        f"({told['low']:.3f} to {told['high']:.3f}; 0.5 is chance). The gate's advisory warns of "
        f"{percent(told['unanswerable_warned'])} % of them and of "
        f"{percent(told['answerable_warned'])} % of the answerable ones."
    )


def _figure(cells: _Cells, one: Results) -> Figure:
    units = list(dict.fromkeys(unit for unit, _ in _systems(cells)))
    panels = [
        Dots(
            title=f"{unit}: {measure}",
            x_label="% of the evidence, 95 % interval by question",
            dots=[
                Dot(system, 100 * cell["mean"], 100 * cell["low"], 100 * cell["high"])
                for of, system in _systems(cells)
                if of == unit and (cell := cells.get((unit, system, _ALL, measure))) is not None
            ],
        )
        for unit in units
        for measure in [_BY_CATEGORY.get(unit, _MAIN)]
    ]
    return Figure(one.path.stem, f"Evidence found by system, {one.path.stem}", panels, [one.digest])


def _systems(cells: _Cells) -> list[tuple[str, str]]:
    return list(dict.fromkeys((unit, system) for unit, system, _, _ in cells))


def _told(cell: Mapping[str, Any] | None) -> str:
    return "–" if cell is None else between(cell["mean"], cell["low"], cell["high"])
