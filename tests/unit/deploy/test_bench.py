"""`python3 -m deploy bench` runs benchmarks that are there, each with a place for its results."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deploy import bench
from deploy.bench import BENCHES, NAMES, run_bench
from deploy.bootstrap import ROOT
from deploy.commands import _parser
from tests.bench.growth import command_of


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The commands that would run; the pipeline's fails."""
    commands: list[Sequence[str]] = []

    def run(command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, int("tests.bench.pipeline" in command))

    monkeypatch.setattr(bench.subprocess, "run", run)
    return commands


def options(out: Path, *words: str) -> Any:
    return _parser().parse_args(["bench", "--out", str(out), *words])


def test_every_benchmark_exists_and_takes_its_options() -> None:
    for one in BENCHES:
        source = (ROOT / "tests" / "bench" / f"{one.module}.py").read_text(encoding="utf-8")
        given = [w for w in f"{one.small} {one.full} {one.writes}".split() if w.startswith("--")]
        assert [word for word in given if f'"{word}"' not in source] == [], one.name


def test_all_run_also_after_one_failed_and_the_exit_code_tells(
    ran: list[Sequence[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_bench(options(tmp_path)) == 1
    assert [command[2] for command in ran] == [f"tests.bench.{one.module}" for one in BENCHES]
    assert "Failed: pipeline" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["small", "full"])
def test_one_runs_in_the_form_that_was_asked_for(
    ran: list[Sequence[str]], tmp_path: Path, form: str
) -> None:
    words = ["--full"] if form == "full" else []
    assert run_bench(options(tmp_path, "--only", "ingest", *words)) == 0
    [command] = ran
    ingest = BENCHES[NAMES.index("ingest")]
    assert " ".join(command[3:-2]) == getattr(ingest, form)
    assert list(command[-2:]) == ["--json", str(tmp_path / "ingest.json")]


def test_each_size_of_growth_has_a_namespace_for_a_thousand_and_a_chinese_one() -> None:
    for size, namespaces in ((1_000, 5), (100_000, 100), (1_000_000, 1_000)):
        command = command_of(size, requests=9, folder=Path("f"), out=Path("o"))
        told = dict(zip(command[2::2], command[3::2], strict=True))
        assert told["--namespaces"] == str(namespaces)
        assert told["--messages"] == told["--events"] == str(size)
        assert told["--json"] == f"o/growth-{size}.json"
