"""`stratagate eval`: a labelled conversation is measured over HTTP, beside the baselines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.stack import RunningSystem
from workers.evaluation.ablations import ABLATIONS
from workers.evaluation.baselines_postgres import postgres_ranking
from workers.evaluation.questions import load_questions
from workers.evaluation.results import read_results

SAID = (
    ("2026-03-01", "I adopted a grey cat called Pebble from the shelter in Leeds.", "Lovely."),
    ("2026-03-01", "My sister Nora moved to Lisbon for a job at a bakery.", "When does she start?"),
    ("2026-03-09", "Pebble broke the blue vase that Nora gave me.", "Oh no, was it expensive?"),
    ("2026-03-09", "It cost forty pounds. 我下周去北京出差。", "Have a good trip."),
    ("2026-04-02", "I signed up for a pottery course to make a new vase.", "Great idea."),
)
ASKED = (
    ("Which city did Nora move to?", "one hop", ["u1"], True),
    ("What did Pebble break?", "one hop", ["u2"], True),
    ("去哪里出差？", "one hop", ["u3"], True),
    ("Why does somebody need a new vase?", "several hops", ["u2", "u4"], True),
    ("What did Nora break in Madrid in 2019?", "none", ["u2"], False),
)


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    messages = []
    for number, (day, said, answered) in enumerate(SAID):
        at = f"{day}T09:{number:02}:00+00:00"
        messages.append({"id": f"u{number}", "role": "user", "content": said, "occurred_at": at})
        messages.append({"id": f"a{number}", "role": "assistant", "content": answered})
    lines: list[dict[str, Any]] = [{"id": "made-up", "messages": messages}]
    lines += [
        {"question": q, "category": category, "evidence": evidence, "answerable": answerable}
        for q, category, evidence, answerable in ASKED
    ]
    path = tmp_path / "made-up.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_the_retrieval_track_measures_every_unit_and_baseline(
    system: RunningSystem, labelled: Path, tmp_path: Path
) -> None:
    key = system.new_tenant("measured").admin_key
    out = tmp_path / "retrieval.json"
    done = system.command(
        "eval",
        "retrieval",
        str(labelled),
        "--events",
        "--parallel",
        "2",
        "--json",
        str(out),
        key=key,
    )
    assert done.returncode == 0, done.stderr
    results = read_results(out)
    assert results.kind == "retrieval"
    assert results.data is not None
    assert results.data["name"] == "made-up.jsonl"
    result = results.result
    assert (result["questions"], result["answerable"], result["skipped"]) == (5, 4, [])
    cells = {(c["system"], c["category"], c["measure"]): c["mean"] for c in result["cells"]}
    assert cells["messages", "all", "R@10"] == 1.0
    assert cells["messages", "several hops", "full@10"] == 1.0
    assert cells["blocks of 6 turns", "all", "R@5"] == 1.0
    assert cells["events", "all", "R@10"] > 0
    assert cells["Postgres full text", "all", "R@10"] > 0
    assert cells["grep", "one hop", "R@1"] > 0
    assert cells["newest 1,000 tokens", "all", "evidence"] == 1.0
    assert cells["context, another conversation", "all", "tokens"] <= 900
    assert result["abstention"]["unanswerable"] == 1
    assert {one["request"] for one in result["latencies"]} == {
        *("messages", "blocks", "events", "context", "assessment")
    }


def test_every_ablation_has_an_effect_or_a_reason(
    system: RunningSystem, labelled: Path, tmp_path: Path
) -> None:
    key = system.new_tenant("ablated").admin_key
    out = tmp_path / "ablations.json"
    done = system.command("eval", "ablate", str(labelled), "--json", str(out), key=key)
    assert done.returncode == 0, done.stderr
    result = read_results(out).result
    told = {one["ablation"] for one in result["effects"]}
    assert told | {one["name"] for one in result["skipped"]} == set(ABLATIONS)
    assert [one["name"] for one in result["skipped"]] == ["no-vectors"]
    effects = {(e["ablation"], e["unit"], e["measure"]): e for e in result["effects"]}
    emptied = effects["raw-only", "context, another conversation", "evidence"]
    assert emptied["without"] == 0.0 < emptied["whole"]
    undecayed = effects["no-decay", "context, same conversation", "tokens"]
    assert undecayed["change"] >= 0
    policy = system.client(key).get("/v1/namespaces/eval-events:made-up").json()["policy"]
    assert policy["block_decay_lambda"] == 0.3


def test_a_bad_question_set_is_refused_by_line_and_field(
    system: RunningSystem, labelled: Path
) -> None:
    with labelled.open("a", encoding="utf-8") as file:
        file.write('\n{"question": "Who?", "evidence": ["u9"]}')
    done = system.command("eval", "retrieval", str(labelled), key=system.new_tenant().admin_key)
    assert done.returncode == 1
    assert "line 7" in done.stderr
    assert "evidence" in done.stderr


def test_an_unknown_ablation_is_refused(system: RunningSystem, labelled: Path) -> None:
    key = system.new_tenant().admin_key
    done = system.command("eval", "ablate", str(labelled), "--ablation", "no-luck", key=key)
    assert done.returncode == 1
    assert "no-luck" in done.stderr


def test_postgres_ranks_by_any_word_and_takes_odd_text(
    system: RunningSystem, labelled: Path
) -> None:
    odd = {"question": "Where does Nora live now?\t\\. \nSay \\N", "evidence": ["u1"]}
    with labelled.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(odd))
    url = system.settings.database_url.get_secret_value()
    found = postgres_ranking(url, load_questions(labelled))
    assert found.ranked["made-up/q0"][0] == "u1"
    assert "u1" in found.ranked["made-up/q5"]
    assert found.version[0].isdigit()
