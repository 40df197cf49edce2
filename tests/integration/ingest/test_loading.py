from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from shared.cli import command_line
from shared.store.blocks import list_blocks
from shared.store.database import Database
from tests.support.databases import Tenant


@pytest.fixture
def run(ingest_url: str, tenant: Tenant) -> Any:
    app = command_line()

    def invoke(*words: str) -> Any:
        access = ("--api-url", ingest_url, "--api-key", tenant.admin_key, "--json")
        return CliRunner().invoke(app, [*words, *access])

    return invoke


def report(result: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
    return content


def session(number: int, lines: int) -> dict[str, Any]:
    spoken = [
        {"speaker": ("Ada", "Ben")[n % 2], "dia_id": f"D{number}:{n}", "text": f"Line {n}."}
        for n in range(lines)
    ]
    return {
        f"session_{number}": spoken,
        f"session_{number}_date_time": f"4:04 pm on {number} January, 2023",
    }


@pytest.fixture
def locomo_file(tmp_path: Path) -> Path:
    conversation = {"speaker_a": "Ada", "speaker_b": "Ben", **session(1, 6), **session(2, 4)}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation}]))
    return path


def test_loading_seals_each_session_and_loading_again_adds_nothing(
    run: Any, locomo_file: Path, database: Database, tenant: Tenant
) -> None:
    first = report(run("turns", "load", str(locomo_file), "--seal"))
    assert first == {
        "stored": 5,
        "duplicates": 0,
        "ignored": 0,
        "sealed_blocks": 2,
        "problems": [],
    }
    again = report(run("turns", "load", str(locomo_file), "--seal"))
    assert (again["stored"], again["duplicates"], again["sealed_blocks"]) == (0, 5, 0)
    with database.read(tenant.tenant_id) as tx:
        blocks = list_blocks(tx, "conv-1", "main")
    assert [(b.start_turn, b.end_turn) for b in blocks] == [(1, 3), (4, 5)]


def test_a_second_run_does_not_seal_what_came_after_the_file(
    run: Any, locomo_file: Path, api: httpx.Client
) -> None:
    run("turns", "load", str(locomo_file), "--seal")
    body = {"receipt_id": "x", "thread_id": "main", "messages": [{"role": "user", "content": "Hi"}]}
    api.post("/v1/namespaces/conv-1/turns", json=body)
    run("turns", "load", str(locomo_file), "--seal")
    assert api.get("/v1/namespaces/conv-1").json()["counts"]["open_tail_turns"] == 1


def test_a_refused_turn_is_told_and_the_others_are_stored(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    chats = [[{"role": "user", "content": "Hi"}], [{"role": "assistant", "content": "Alone."}]]
    path.write_text("\n".join(json.dumps({"messages": chat}) for chat in chats))
    result = run("turns", "load", str(path), "-n", "project:chat", "-t", "t")
    assert result.exit_code == 1
    assert report(result)["stored"] == 1
    assert len(report(result)["problems"]) == 1


def test_one_turn_is_posted_once_however_often_it_is_asked_for(run: Any) -> None:
    words = ("turn", "post", "--user", "The heater broke.", "-n", "project:chat", "-t", "t")
    first, second = report(run(*words)), report(run(*words))
    assert (first["sequence"], first["duplicate"]) == (1, False)
    assert second == {**first, "duplicate": True}
