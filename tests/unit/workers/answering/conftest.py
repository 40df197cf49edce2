from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from shared.settings import get_settings
from tests.unit.workers.answering.stand_in import StandIn, standing_in
from workers.evaluation.answering import command

TALK = (
    ("m1", "Ada", "I moved to Oslo yesterday."),
    ("m2", "Ben", "How nice! I still live in Rome with my dog Pixel."),
    ("m3", "Ada", "I work at the harbour now."),
)
ASKED: tuple[dict[str, Any], ...] = (
    {"id": "q1", "question": "Where does Ada live?", "answer": "Oslo", "evidence": ["m1"]},
    {"id": "q2", "question": "What is Ben's dog called?", "answer": "Pixel", "evidence": ["m2"]},
    {"id": "q3", "question": "What is Ada's cat called?", "answerable": False},
)


@pytest.fixture
def question_file(tmp_path: Path) -> Path:
    messages = [
        {"id": i, "name": who, "content": said, "occurred_at": "2026-03-01T10:00:00+00:00"}
        for i, who, said in TALK
    ]
    lines = [{"id": "talk", "messages": messages}]
    lines += [{"category": "live" if q["id"] == "q1" else "other", **q} for q in ASKED]
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    played = StandIn(reply=lambda _request: "unknown", hits={m: said for m, _, said in TALK})
    with standing_in(played):
        yield played


Command = Callable[..., Result]


@pytest.fixture
def eval_answers(
    stand_in: StandIn, question_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Command]:
    """Run the whole command against the stand-in; its results file is `results.json`."""
    monkeypatch.setenv("STRATAGATE_EVAL_ENDPOINT", f"small-model@{stand_in.url}/v1")
    monkeypatch.setenv("STRATAGATE_EVAL_KEY", "sk-hidden")
    monkeypatch.setenv("STRATAGATE_API_URL", stand_in.url)
    monkeypatch.setenv("STRATAGATE_API_KEY", "sg_hidden")
    get_settings.cache_clear()
    app = typer.Typer()
    app.command()(command.eval_answers)

    def run(*arguments: str, out: str = "out") -> Result:
        given = [str(question_file), "--out", str(tmp_path / out)]
        given += ["--json", str(tmp_path / "results.json"), "--parallel", "1"]
        return CliRunner().invoke(app, [*given, *arguments])

    yield run
    get_settings.cache_clear()
