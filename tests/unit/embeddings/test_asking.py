from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from shared.domain.jobs import FailureClass
from shared.embeddings.asking import TIME_BUDGET, QueryEmbedder, query_embedder_of
from shared.embeddings.packed import pack
from shared.embeddings.port import EmbeddingError
from shared.settings import Settings
from tests.support.concept_embedder import ConceptEmbedder, concept_vector

ON = Settings(embeddings_provider="openai", embeddings_query_budget_ms=2_000)
HASTY = ON.model_copy(update={"embeddings_query_budget_ms": 20})


@pytest.fixture
def opened() -> Iterator[Callable[[ConceptEmbedder, Settings], QueryEmbedder]]:
    made: list[QueryEmbedder] = []

    def make(embedder: ConceptEmbedder, settings: Settings = ON) -> QueryEmbedder:
        made.append(QueryEmbedder(settings, embedder=lambda _: embedder))
        return made[-1]

    yield make
    for one in made:
        one.close()


Opened = Callable[..., QueryEmbedder]


def test_a_query_gets_its_vector_and_the_same_query_is_asked_for_once(opened: Opened) -> None:
    embedder = ConceptEmbedder()
    queries = opened(embedder)
    first, again = queries.vector_of("my dog"), queries.vector_of("my dog")
    assert first is not None
    assert first.packed == pack(concept_vector("my dog", 24), dimension=24)
    assert (first.model, first.dimension, first.why_none) == ("fake:concepts", 24, None)
    assert again == first
    assert embedder.requests == [["my dog"]]


@pytest.mark.parametrize("query", ["", "  \n"])
def test_a_blank_query_has_no_vector(opened: Opened, query: str) -> None:
    assert opened(ConceptEmbedder()).vector_of(query) is None


def test_with_vectors_off_nothing_is_asked(opened: Opened) -> None:
    embedder = ConceptEmbedder()
    assert opened(embedder, Settings()).vector_of("my dog") is None
    assert embedder.requests == []


def test_a_model_beyond_its_time_budget_drops_out_and_nobody_waits_for_it(opened: Opened) -> None:
    release = threading.Event()
    slow = ConceptEmbedder(before=lambda _: release.wait(10) and None)
    queries = opened(slow, HASTY)
    found = [queries.vector_of(f"question {n}") for n in range(6)]
    assert {one.why_none for one in found if one} == {TIME_BUDGET}
    # Three late ones in a row: the next are not even sent for a while.
    assert len(slow.requests) <= 3
    release.set()


def test_a_refusal_is_told_by_its_code(opened: Opened) -> None:
    def refuse(_: Sequence[str]) -> None:
        raise EmbeddingError(FailureClass.PERMANENT, "http_401", "HTTP 401")

    found = opened(ConceptEmbedder(before=refuse)).vector_of("my dog")
    assert found is not None
    assert (found.packed, found.why_none) == (None, "http_401")


def test_a_broken_model_breaks_no_search(opened: Opened) -> None:
    def broken(_: Sequence[str]) -> None:
        raise ZeroDivisionError

    found = opened(ConceptEmbedder(before=broken)).vector_of("my dog")
    assert found is not None
    assert (found.packed, found.why_none) == (None, "embedder_broke")


def test_settings_that_cannot_work_are_told_with_each_query() -> None:
    found = query_embedder_of(ON).vector_of("my dog")
    assert found is not None
    assert (found.packed, found.why_none) == (None, "not_configured")
