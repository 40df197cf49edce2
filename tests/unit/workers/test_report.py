"""The report is made of the checked-in results and of nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from shared.errors import InvalidInput
from workers.evaluation.cells import Ablation, AblationResult, Cell, Effect, RetrievalResult
from workers.evaluation.curves_presence import MEASURES
from workers.evaluation.report import drawing
from workers.evaluation.report.drawing import draw
from workers.evaluation.report.figures import Bars, Dot, Dots, Figure, Line, Lines, Part
from workers.evaluation.report.markdown import number, points
from workers.evaluation.report.page import CHAPTERS, page_of, results_of
from workers.evaluation.results import write_results

EVALUATION = Path(__file__).resolve().parents[3] / "docs" / "evaluation"
PAGE = page_of(results_of(EVALUATION / "results"))
HOWS = ("ranked", "least", "whole")
REMEDY = "make the report again: stratagate eval report"

FIGURE = Figure(
    "one",
    "All kinds of panels",
    [
        Lines("Lines", "x", "y", [Line("a", [1, 10], [2, 3], True)], log_x=True, log_y=True),
        Dots("Dots", "x", [Dot("a", 1, 0, 2), Dot("b", 2)], has_zero=True),
        Bars("Bars", "x", ["a", "b"], [Part("p", [1, 2]), Part("q", [0, 3])]),
    ],
    ["0123", "4567"],
)


def test_the_checked_in_report_is_the_one_that_the_results_give() -> None:
    assert (EVALUATION / "report.md").read_text(encoding="utf-8") == PAGE.text, REMEDY


def test_every_plot_is_there_and_was_drawn_from_the_results_that_are() -> None:
    plots = {path.stem for path in (EVALUATION / "plots").glob("*.svg")}
    assert plots == {figure.name for figure in PAGE.figures}, REMEDY
    for figure in PAGE.figures:
        text = (EVALUATION / "plots" / f"{figure.name}.svg").read_text(encoding="utf-8")
        described = re.search(r"<dc:description>(.*?)</dc:description>", text)
        assert described is not None
        assert described.group(1).split() == list(figure.digests), REMEDY


def test_every_file_of_results_stands_in_the_report_with_its_commit_and_machine() -> None:
    for one in results_of(EVALUATION / "results"):
        assert (
            f"[{one.path.name}](results/{one.path.name}) · commit: {one.commit[:12]}" in PAGE.text
        )
        assert str(one.machine["model"]) in PAGE.text
        if one.data is not None:
            assert f"{one.data['name']} ({one.data['sha256'][:12]})" in PAGE.text


def test_what_was_not_run_is_named() -> None:
    empty = page_of([])
    assert empty.text.count("**not run**") == len(CHAPTERS)
    assert empty.figures == []
    assert all(chapter.command in empty.text for chapter in CHAPTERS)


def test_a_page_elsewhere_links_to_its_results(tmp_path: Path) -> None:
    write_results(tmp_path / "pipeline.json", "pipeline", {"ratio": 0.2}, configuration={})
    text = page_of(results_of(tmp_path), results_at="..").text
    assert "[pipeline.json](../pipeline.json)" in text
    assert "](results/" not in text


def test_an_edited_file_and_an_unknown_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_results(path, "weather", {}, configuration={})
    with pytest.raises(InvalidInput, match="no chapter"):
        results_of(tmp_path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(whole | {"kind": "curves"}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="digest"):
        results_of(tmp_path)


def test_figures_have_as_many_digits_as_they_deserve() -> None:
    assert [number(value) for value in (None, 0, 0.1234, 12.34, 1234.5)] == [
        "–",
        "0",
        "0.123",
        "12.3",
        "1,234",
    ]
    assert [points(value) for value in (None, 0.0, -0.0001, 0.0123, -0.5)] == [
        "–",
        "0.0",
        "0.0",
        "+1.2",
        "−50.0",
    ]


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra `evaluation` is not here")
def test_the_same_figures_give_the_same_bytes_and_stale_plots_go(tmp_path: Path) -> None:
    (tmp_path / "stale.svg").write_text("old", encoding="utf-8")
    draw([FIGURE], tmp_path)
    first = (tmp_path / "one.svg").read_bytes()
    draw([FIGURE], tmp_path)
    assert (tmp_path / "one.svg").read_bytes() == first
    assert b"<dc:description>0123 4567</dc:description>" in first
    assert [path.name for path in tmp_path.iterdir()] == ["one.svg"]


def test_without_matplotlib_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(drawing, "import_module", missing)
    with pytest.raises(InvalidInput, match=r"pip install '\.\[evaluation\]'"):
        draw([FIGURE], tmp_path / "plots")


def test_each_kind_of_results_becomes_its_chapter(tmp_path: Path) -> None:
    for kind, result in samples().items():
        write_results(tmp_path / f"{kind}.json", kind, result, configuration={"size": "small"})
    page = page_of(results_of(tmp_path))
    assert "**not run**" not in page.text
    for chapter in CHAPTERS:
        assert f"\n## {chapter.title}\n" in page.text
    for line in (
        "| messages | words | – | 77.4 (70.0 to 84.0) | – | – | – | – |",
        "| no graph | messages | R@10 | 100 | 77.4 | 70.4 | −7.0 | −9.0 to −5.0 | – to – |",
        "| memory | strict | answerable | 4 | 50.0 | 50.0 (15.0 to 85.0) |",
        "| api | 1 | 10 | 5 | 12 | 6 |",
        "| a turn by HTTP | 100 | 1 | 2 | 4 | 400 | 1 | 0.5 |",
        "| ratio of the rates | 0.2 |",
        "| switch, s | 0.04 |",
    ):
        assert line in page.text, line


def samples() -> dict[str, dict[str, Any]]:
    """A small result of every kind."""
    ends = {"low_by_conversation": None, "high_by_conversation": None}
    cell = Cell("words", "messages", "all", "R@10", 100, 0.774, 0.7, 0.84, **ends)
    taken = Ablation("no graph", "the graph", "weights", ["messages"])
    effect = Effect("no graph", "messages", "R@10", 100, 0.774, 0.704, -0.07, -0.09, -0.05, **ends)
    retrieval = RetrievalResult("w", 1, 10, 100, 100, 0, 0, [cell], [], None, [])
    ablations = AblationResult("w", 1, 100, 100, None, [cell], [taken], [effect])
    size = dict.fromkeys(("history", "blocks", "headers", "tail", "background", "context"), 10)
    held = {"questions": 1, "times": 1} | dict.fromkeys(MEASURES, 1.0)
    point = {"turns": 1, "tokens": size, "levels": {"L5": 1}, "answerable": held}
    took = {"p50": 1.0, "p95": 2.0}
    names = [f"{what} {how}" for what in ("raw", "events", "graph") for how in HOWS]
    told = {"messages": 9, **{kind: dict.fromkeys(names, took) for kind in ("common", "mixed")}}
    return {
        "retrieval": asdict(retrieval),
        "ablations": asdict(ablations),
        "answers": answers(),
        "curves": {
            "conversations": [{"id": "c", "messages": 1, "points": [point]}],
            "by_age": [{"from": 0, "to": 11} | held],
        },
        "search-scale": {
            "messages": 9,
            "namespaces": 1,
            "events": 9,
            "bytes": {"search_postings": 2**20, "messages": 2**20, "events": 2**20},
            "searches": {"large": told},
            "inserts_per_s": {"a turn at a time": 10},
        },
        "ingest": {
            "rows": [
                {
                    "what": "a turn by HTTP",
                    "requests": 100,
                    "turns_each": 1,
                    "p50_ms": 2.0,
                    "p95_ms": 4.0,
                    "turns_per_s": 400.0,
                    "api_cpu_ms": 1.0,
                    "postgres_cpu_ms": 0.5,
                }
            ],
            "ratios": {"a turn, by an INSERT": 2.0},
        },
        "pipeline": {"ratio": 0.2, "cpu_ms_per_job": {"worker": 1.5}},
        "reprojection": {"switch_s": 0.04},
        "memory": {
            "processes": [
                {
                    "process": "api",
                    "count": 1,
                    "idle_rss_mib": 10,
                    "idle_pss_mib": 5,
                    "loaded_rss_mib": 12,
                    "loaded_pss_mib": 6,
                }
            ]
        },
    }


def answers() -> dict[str, Any]:
    """What a run of one mode and one judge leaves."""
    figures = {
        "answers": 4,
        "mean": 0.5,
        "majority": 0.5,
        "majority_interval": [0.15, 0.85],
        "run_least": 0.5,
        "run_most": 0.5,
        "seed_least": 0.5,
        "seed_most": 0.5,
        "split": 0,
    }
    judge = {"groups": {"answerable": figures}, "failed_at": {"evidence never found": 2}}
    evidence = {"labelled": 4, "found_any": 2, "found_all": 1, "sufficient_without_evidence": 0}
    cost = {
        "input_tokens": 9,
        "output_tokens": 9,
        "calls": 4,
        "cost": 0.0,
        "seconds_p50": 1.0,
        "seconds_p95": 2.0,
    }
    mode = {"answers": 4, "judges": {"strict": judge}, "evidence": evidence, "cost": cost}
    judging = {"verdicts": 4, "by_rule": 0, "input_tokens": 9, "output_tokens": 9}
    return {"modes": {"memory": mode}, "judging": judging, "answers": [{}] * 4}
