"""The shipped weights keep finding the labelled evidence: the pure code, offline."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.fit_ranking import ask_all
from tests.bench.offline_ranking import load_memories
from workers.evaluation.fitting import outcome_of
from workers.evaluation.measures import area_under_curve, summarise

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo-dev.json"

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.exists(), reason="the labelled conversations are not here"),
]


def test_the_ranking_finds_the_evidence_and_doubts_what_has_none() -> None:
    answered, blocks, doubts = ask_all(load_memories(DATA))

    messages = summarise([outcome_of(one) for one in answered]).overall
    assert messages.questions == 512
    assert messages.recall[10] >= 0.76
    assert messages.recall[50] >= 0.87
    assert messages.reciprocal_rank >= 0.62
    assert summarise(blocks).overall.recall[10] >= 0.87
    assert area_under_curve([(doubt.score, truth) for doubt, truth in doubts]) >= 0.72
