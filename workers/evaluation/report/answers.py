"""The chapter on answers: correctness by mode and judge, where wrong ones failed, their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workers.evaluation.report.figures import Bars, Dot, Dots, Figure, Part
from workers.evaluation.report.markdown import Section, between, number, percent, source_line
from workers.evaluation.results import Results

_MAIN_GROUPS: Final = ("answerable", "unanswerable")


def answers_section(results: Sequence[Results]) -> Section:
    """Return the chapter, a part for each results file."""
    section = Section("Answers")
    section.say(
        "A model answers with the memory tools (`memory`) and in ways without them; each judge "
        "judges each answer several times. *Mean* is over answers and runs, *majority* counts what "
        "most runs call correct, with Wilson's 95 % interval. *Runs* and *seeds* are the least and "
        "the most of one judge's runs and of the system's seeds. All in percent."
    )
    for one in results:
        _add(section, one)
    return section


def _add(section: Section, one: Results) -> None:
    modes: Mapping[str, Any] = one.result["modes"]
    section.say(f"### {one.path.stem}")
    section.say(
        f"Model, of the answers and of the judges alike: `{one.configuration.get('model', '?')}`. "
        "The less a model can, the less its figures say of memory, and the more its judging errs: "
        "compare modes under one model, and see the gold evidence for what it makes of the best "
        "notes there are."
    )
    _add_correctness(section, modes)
    section.add_figure(_correct(modes, one))
    _add_categories(section, modes)
    _add_stages(section, modes)
    if any(told["failed_at"] for mode in modes.values() for told in mode["judges"].values()):
        section.add_figure(_stages(modes, one))
    _add_cost(section, modes)
    judging = one.result["judging"]
    section.say(
        f"Judging took {judging['verdicts']} verdicts, {judging['by_rule']} of them by rule, with "
        f"{judging['input_tokens']:,} tokens in and {judging['output_tokens']:,} out. The results "
        f"file holds each of the {len(one.result['answers'])} answers, without its text: what was "
        "asked, which tools were called, what was found and every verdict."
    )
    section.say(source_line(one))


def _add_correctness(section: Section, modes: Mapping[str, Any]) -> None:
    section.add_table(
        ("mode", "judge", "questions", "answers", "mean", "majority", "runs", "seeds", "split"),
        (
            (
                mode,
                judge,
                group,
                str(told["answers"]),
                percent(told["mean"]),
                between(told["majority"], *told["majority_interval"]),
                f"{percent(told['run_least'])} to {percent(told['run_most'])}",
                f"{percent(told['seed_least'])} to {percent(told['seed_most'])}",
                str(told["split"]),
            )
            for mode, judge, groups in _judged(modes)
            for group in _MAIN_GROUPS
            if (told := groups.get(group)) is not None
        ),
        words=3,
    )


def _add_categories(section: Section, modes: Mapping[str, Any]) -> None:
    categories = sorted(
        {name for _, _, groups in _judged(modes) for name in groups if name not in _MAIN_GROUPS}
    )
    if not categories:
        return
    section.say("Majority by category, with its interval.")
    section.add_table(
        ("mode", "judge", *categories),
        (
            (
                mode,
                judge,
                *(
                    between(told["majority"], *told["majority_interval"])
                    if (told := groups.get(category)) is not None
                    else "–"
                    for category in categories
                ),
            )
            for mode, judge, groups in _judged(modes)
        ),
        words=2,
    )


def _add_stages(section: Section, modes: Mapping[str, Any]) -> None:
    judges = _judges(modes)
    section.say("Where wrong answers failed: the first step that did, in answers.")
    section.add_table(
        ("mode", "failed at", *judges),
        (
            (
                name,
                stage,
                *(str(_failed(mode, judge).get(stage, 0)) for judge in judges),
            )
            for name, mode in modes.items()
            for stage in sorted({s for judge in judges for s in _failed(mode, judge)})
        ),
        words=2,
    )


def _add_cost(section: Section, modes: Mapping[str, Any]) -> None:
    section.say(
        "What it took. *Evidence found* counts answerable questions of which any, and all, of the "
        "evidence was shown to the model; *sufficient without* counts assessments that were judged "
        "sufficient although none was."
    )
    section.add_table(
        (
            "mode", "answers", "evidence found", "all of it", "sufficient without",
            "tokens in", "tokens out", "calls", "cost", "p50 s", "p95 s",
        ),
        (
            (
                name,
                str(mode["answers"]),
                f"{found['found_any']} of {found['labelled']}",
                str(found["found_all"]),
                str(found["sufficient_without_evidence"]),
                f"{cost['input_tokens']:,}",
                f"{cost['output_tokens']:,}",
                f"{cost['calls']:,}",
                number(cost["cost"]),
                number(cost["seconds_p50"]),
                number(cost["seconds_p95"]),
            )
            for name, mode in modes.items()
            for found, cost in [(mode["evidence"], mode["cost"])]
        ),
    )  # fmt: skip


def _correct(modes: Mapping[str, Any], one: Results) -> Figure:
    panels = []
    for group in _MAIN_GROUPS:
        dots = [
            Dot(
                f"{mode}, {judge}",
                100 * told["majority"],
                100 * told["majority_interval"][0],
                100 * told["majority_interval"][1],
            )
            for mode, judge, groups in _judged(modes)
            if (told := groups.get(group)) is not None
        ]
        if dots:
            panels.append(Dots(f"{group} questions", "% correct by majority, 95 %", dots))
    return Figure(
        f"{one.path.stem}-correct",
        f"Correct answers by mode and judge, {one.path.stem}",
        panels,
        [one.digest],
    )


def _stages(modes: Mapping[str, Any], one: Results) -> Figure:
    bars = [(f"{n}, {j}", _failed(mode, j)) for n, mode in modes.items() for j in mode["judges"]]
    stages = sorted({stage for _, counts in bars for stage in counts})
    panel = Bars(
        "Wrong answers by the step that failed",
        "answers",
        [label for label, _ in bars],
        [Part(stage, [counts.get(stage, 0) for _, counts in bars]) for stage in stages],
    )
    return Figure(
        f"{one.path.stem}-stages",
        f"Where wrong answers failed, {one.path.stem}",
        [panel],
        [one.digest],
    )


def _judged(modes: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    return [
        (name, judge, told["groups"])
        for name, mode in modes.items()
        for judge, told in mode["judges"].items()
    ]


def _judges(modes: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(judge for mode in modes.values() for judge in mode["judges"]))


def _failed(mode: Mapping[str, Any], judge: str) -> Mapping[str, int]:
    counts: Mapping[str, int] = mode["judges"].get(judge, {}).get("failed_at", {})
    return counts
