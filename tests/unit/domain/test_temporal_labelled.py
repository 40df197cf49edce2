from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.domain.temporal import TimeExpression, resolve

LABELLED = Path(__file__).parents[4] / "shared" / "data" / "temporal-dev.json"

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not LABELLED.exists(), reason=f"the labelled time expressions are not at {LABELLED}"
    ),
]


@dataclass(frozen=True)
class Score:
    right: int
    asked: int
    missed: tuple[str, ...]
    false_dates: tuple[str, ...]


def cases(language: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(LABELLED.read_text("utf-8"))["cases"]
    return [c for c in loaded if c["lang"] == language]


def day_of(value: date | None) -> str | None:
    return None if value is None else date(value.year, value.month, value.day).isoformat()


def is_right(case: dict[str, Any], found: list[TimeExpression]) -> bool:
    begin = case["text"].index(case["expression"])
    end = begin + len(case["expression"])
    overlapping = [f for f in found if f.span[0] < end and f.span[1] > begin]
    return [(day_of(f.start), day_of(f.end), f.precision) for f in overlapping] == [
        (case["start"], case["end"], case["precision"])
    ]


def score(language: str) -> Score:
    missed: list[str] = []
    false_dates: list[str] = []
    asked = 0
    for case in cases(language):
        at = datetime.fromisoformat(case["timestamp"]).replace(tzinfo=UTC)
        found = resolve(case["text"], at, "UTC")
        if case["expression"] is None:
            false_dates += [case["id"] for f in found if f.start is not None]
            continue
        asked += 1
        if not is_right(case, found):
            missed.append(case["id"])
    return Score(asked - len(missed), asked, tuple(missed), tuple(false_dates))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_at_least_95_percent_of_the_labelled_expressions_are_exactly_right(language: str) -> None:
    result = score(language)
    assert result.asked >= 15
    assert result.right / result.asked >= 0.95, result.missed


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_text_without_a_time_is_given_a_date(language: str) -> None:
    assert score(language).false_dates == ()


def test_the_status_agrees_with_its_label_where_there_is_one() -> None:
    wrong = []
    for case in cases("en"):
        at = datetime.fromisoformat(case["timestamp"]).replace(tzinfo=UTC)
        wrong += [
            (case["id"], found.status, case["status"])
            for found in resolve(case["text"], at, "UTC")
            if found.original_text == case["expression"] and found.status != case["status"]
        ]
    assert wrong == []
