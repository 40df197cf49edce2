from __future__ import annotations

import time
from typing import Any

import pytest
from sqlalchemy import text

from shared.store import vector_reads
from shared.store.database import send
from shared.store.vector_reads import vectors_in_chunks
from shared.store.vectors import VectorKind, VectorModel
from tests.integration.vectors.conftest import NS, Vectors
from tests.support.embedding_server import DIMENSION, EmbeddingServer, Played, vectors_of

PUPPY = "Our puppy chewed the sofa."
OTHERS = ("The train was late.", "Lunch was soup again.", "I repaired the old radio.")


def tell(vectors: Vectors, *said: str) -> None:
    for one in said:
        vectors.say(one)
        vectors.say(*OTHERS[:1])
    vectors.embed()


def reasons(reply: Any) -> list[tuple[str, str]]:
    return [(one["lane"], one["reason"]) for one in reply["degraded_lanes"]]


def test_a_message_that_shares_no_word_is_found_by_its_meaning(vectors: Vectors) -> None:
    tell(vectors, *OTHERS, PUPPY, "The weather stays dry.")
    reply = vectors.search("Does she own a dog?")
    best = reply["items"][0]
    assert best["message"]["content"] == PUPPY
    assert "Close to the query in meaning." in best["match_reason"]
    assert best["signals"]["meaning"] > 0
    assert best["rank_score"] == pytest.approx(sum(best["signals"].values()), abs=1e-3)
    assert reply["degraded_lanes"] == []


def test_chinese_is_found_by_its_meaning(vectors: Vectors) -> None:
    tell(vectors, "火车又晚点了。", "我上周去诊所找大夫了。", "中午喝了汤。", "我修好了收音机。")
    assert vectors.found("他什么时候看病的？")[0] == "我上周去诊所找大夫了。"


def test_blocks_are_found_by_their_messages_meaning(vectors: Vectors) -> None:
    vectors.call("PUT", f"/v1/namespaces/{NS}", {"block_turn_size": 1})
    tell(vectors, *OTHERS, PUPPY)
    reply = vectors.search("a dog", "blocks", scope="namespace")
    assert reply["items"][0]["messages"][0]["excerpt"] == PUPPY


def test_what_was_said_just_now_is_found_before_it_has_a_vector(vectors: Vectors) -> None:
    tell(vectors, *OTHERS)
    vectors.say("The violin needs new strings.")
    assert vectors.found("violin strings")[0] == "The violin needs new strings."


def test_before_the_first_vector_the_lane_is_degraded_and_words_still_find(
    vectors: Vectors,
) -> None:
    vectors.say(PUPPY)
    reply = vectors.search("puppy")
    assert reply["items"][0]["message"]["content"] == PUPPY
    assert reasons(reply) == [("vectors", "no_vectors_yet")]


@pytest.mark.parametrize("column", ["model", "dimension"])
def test_vectors_of_another_model_or_length_degrade_the_lane_never_the_search(
    vectors: Vectors, column: str
) -> None:
    tell(vectors, PUPPY, *OTHERS)
    change = {
        "model": "UPDATE message_vectors SET model = 'openai:former'",
        "dimension": "UPDATE message_vectors SET dimension = 8, "
        "vector = substring(vector FROM 1 FOR 12)",
    }[column]
    with vectors.database.write(vectors.tenant.tenant_id) as tx:
        tx.connection.execute(text(change))
    reply = vectors.search("puppy")
    assert reply["items"][0]["message"]["content"] == PUPPY
    assert "meaning" not in reply["items"][0]["signals"]
    assert reasons(reply) == [("vectors", "other_model")]


def test_a_query_s_vector_that_is_late_drops_out(
    vectors: Vectors, embeddings: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(vectors, PUPPY, *OTHERS)

    def late(request: dict[str, Any]) -> Played:
        return Played(vectors_of(request).body, after_s=4)

    monkeypatch.setattr(embeddings, "play", late)
    begun = time.monotonic()
    reply = vectors.search("the puppy question that is new")
    assert time.monotonic() - begun < 3.9
    assert reply["items"][0]["message"]["content"] == PUPPY
    assert reasons(reply) == [("vectors", "time_budget")]


def test_an_endpoint_that_refuses_is_named_by_its_code(
    vectors: Vectors, embeddings: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(vectors, PUPPY)
    monkeypatch.setattr(embeddings, "play", lambda _: Played({}, 401))
    reply = vectors.search("another new puppy question")
    assert reply["items"][0]["message"]["content"] == PUPPY
    assert reasons(reply) == [("vectors", "http_401")]


def test_a_namespace_that_switches_the_stage_off_has_no_lane(vectors: Vectors) -> None:
    tell(vectors, PUPPY, *OTHERS)
    vectors.call("PATCH", f"/v1/namespaces/{NS}", {"stages": {"embed": False}})
    reply = vectors.search("a dog")
    assert reply["items"] == []
    assert reply["degraded_lanes"] == []


def test_a_session_s_search_compares_its_own_thread_alone(vectors: Vectors) -> None:
    vectors.say(PUPPY, thread_id="other")
    vectors.say("The train was late.", thread_id="main")
    vectors.embed()
    reply = vectors.search("a dog", scope="session", thread_id="main")
    assert [hit["thread_id"] for hit in reply["items"]] == ["main"]


def test_a_query_without_a_searchable_word_finds_nothing_in_any_lane(vectors: Vectors) -> None:
    tell(vectors, PUPPY)
    assert vectors.search("???")["items"] == []


def test_the_tool_answers_as_its_route_does(vectors: Vectors) -> None:
    tell(vectors, *OTHERS, PUPPY)
    body = {"namespace": NS, "arguments": {"query": "a dog"}}
    reply = vectors.call("POST", "/v1/tools/memory_search_raw", body)
    assert reply["items"][0]["message"]["content"] == PUPPY


def test_another_tenant_s_vectors_are_never_compared(vectors: Vectors, other_tenant: Any) -> None:
    tell(vectors, PUPPY)
    mine = vectors.tenant
    vectors.tenant = other_tenant
    tell(vectors, "The train was late.")
    assert PUPPY not in vectors.found("a dog")
    vectors.tenant = mine
    assert PUPPY in vectors.found("a dog")


@pytest.mark.parametrize("limit", [1, 4, 5, 6, 100])
def test_vectors_come_newest_first_and_once_however_many_are_read_at_a_time(
    vectors: Vectors, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    said = [*vectors.say(*OTHERS, PUPPY), *vectors.say(*OTHERS, thread_id="second")]
    vectors.embed()
    stored = dict(zip(said, stored_vectors(vectors, said), strict=True))
    assert all(stored.values())
    monkeypatch.setattr(vector_reads, "_CHUNK", 2)
    made = vectors.column("SELECT DISTINCT model FROM message_vectors")
    model = VectorModel(made[0], DIMENSION)
    for threads, ids in ((None, said), (["second"], said[4:])):
        with vectors.database.read(vectors.tenant.tenant_id) as tx:
            chunks = list(
                vectors_in_chunks(tx, NS, VectorKind.MESSAGE, model, threads=threads, limit=limit)
            )
            # Other statements on the connection have their rows' names, as before.
            assert send(tx.connection, "SELECT 1 AS one").fetchone().one == 1
        newest = sorted(ids, reverse=True)[:limit]
        assert [one for names, _ in chunks for one in names] == newest
        assert b"".join(bytes(row) for _, row in chunks) == b"".join(stored[i] for i in newest)
        assert max(len(names) for names, _ in chunks) <= 2


def stored_vectors(vectors: Vectors, ids: list[str]) -> list[bytes]:
    rows = [
        vectors.column("SELECT vector FROM message_vectors WHERE message_id = :i", i=one)
        for one in ids
    ]
    return [bytes(row[0]) for row in rows]
