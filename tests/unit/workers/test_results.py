from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.errors import InvalidInput
from workers.evaluation.results import read_results, sha256_of, write_results


def test_a_results_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    data = tmp_path / "questions.json"
    data.write_text("[]", encoding="utf-8")
    path = tmp_path / "new" / "one.json"
    result = {"recall": {10: 0.5, 9: 1 / 3}, "rows": ((1, 2.5), (3, None)), "name": "测量 ✓"}

    write_results(path, "retrieval", result, configuration={"events": False}, data=data)

    found = read_results(path)
    assert found.kind == "retrieval"
    assert found.result == {
        "recall": {"10": 0.5, "9": 1 / 3},
        "rows": [[1, 2.5], [3, None]],
        "name": "测量 ✓",
    }
    assert found.configuration == {"events": False}
    assert found.data == {"name": "questions.json", "sha256": sha256_of(data)}
    assert found.machine["processors"] >= 1
    assert found.machine["memory_mib"] > 0
    assert found.machine["load"] >= 0
    assert found.made_at.tzinfo is not None
    assert found.commit


def test_a_results_file_that_was_edited_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_results(path, "retrieval", {"recall": 0.5}, configuration={})
    whole = json.loads(path.read_text(encoding="utf-8"))
    for edit in (
        {"result": {"recall": 0.6}},
        {"commit": "0" * 40},
        {"data": {"name": "other.json", "sha256": "0"}},
        {"digest": "0" * 64},
    ):
        path.write_text(json.dumps(whole | edit), encoding="utf-8")
        with pytest.raises(InvalidInput, match="does not match its digest"):
            read_results(path)
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert read_results(path).result == {"recall": 0.5}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 2}'])
def test_another_file_is_no_results_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "one.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput):
        read_results(path)


def test_what_json_cannot_hold_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    with pytest.raises(ValueError, match="JSON"):
        write_results(path, "retrieval", {"recall": float("nan")}, configuration={})
    assert not path.exists()
