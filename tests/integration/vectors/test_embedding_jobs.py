from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from sqlalchemy import text

from shared.domain.jobs import FailureClass
from shared.embeddings.packed import pack
from shared.embeddings.port import EmbeddingError
from shared.store.namespaces import get_namespace, policy_defaults
from shared.store.vectors import (
    Embedded,
    VectorKind,
    VectorModel,
    remove_vectors,
    request_vectors,
    save_vectors,
)
from tests.integration.vectors.conftest import NS, Vectors
from tests.support.concept_embedder import ConceptEmbedder, concept_vector
from workers.steps import embed
from workers.steps.embed import embed_step

STORED = "SELECT message_id FROM message_vectors WHERE vector IS NOT NULL ORDER BY message_id"


def test_many_turns_share_one_job_that_embeds_all_of_them(vectors: Vectors) -> None:
    ids = [vectors.say(f"turn {n}")[0] for n in range(6)]
    assert len(vectors.jobs()) == 1
    assert vectors.embed() == "succeeded"
    assert vectors.column(STORED) == sorted(ids)
    job = vectors.jobs()[0]
    assert job.queue == "embed"
    assert job.model is None
    assert job.result == {"model": "openai:concepts", "dimension": 24, "vectors": 6}


def test_a_vector_is_of_the_redacted_text_with_the_speaker_s_name(vectors: Vectors) -> None:
    body = {
        "receipt_id": "named",
        "thread_id": "main",
        "occurred_at": "2026-03-01T10:00:00+00:00",
        "messages": [{"role": "user", "name": "Ann", "content": "the password is hunter22x"}],
    }
    vectors.call("POST", f"/v1/namespaces/{NS}/turns", body)
    fake = ConceptEmbedder()
    vectors.run(vectors.with_embedder(fake))
    ((sent,),) = fake.requests
    assert sent.startswith("Ann: ")
    assert "hunter22x" not in sent


def test_what_is_stored_while_the_job_runs_is_embedded_before_it_ends(vectors: Vectors) -> None:
    vectors.say("first")
    later: list[str] = []

    def speak(texts: Sequence[str]) -> None:
        if not later:
            later.extend(vectors.say("said meanwhile"))

    fake = ConceptEmbedder(before=speak)
    deps = vectors.with_embedder(fake)
    assert vectors.run(deps) == "snoozed"
    assert len(vectors.jobs()) == 1
    assert vectors.run(deps) == "succeeded"
    assert len(vectors.column(STORED)) == 2


def test_a_turn_that_commits_while_the_job_ends_is_not_left_without_a_job(
    vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The job looks for what is left while a turn is stored but not committed: it must wait.
    vectors.say("first")
    settings, tenant_id = vectors.settings, vectors.tenant.tenant_id
    reached, waits = threading.Event(), embed.await_requests

    def await_requests(tx: object, namespace: str) -> None:
        reached.set()
        waits(tx, namespace)  # type: ignore[arg-type] # handed through as it is

    monkeypatch.setattr(embed, "await_requests", await_requests)
    ended: list[str] = []
    job = threading.Thread(target=lambda: ended.append(vectors.run()))
    with vectors.database.write(tenant_id) as tx:
        policy = get_namespace(tx, NS, defaults=policy_defaults(settings)).policy
        request_vectors(tx, NS, policy, settings)
        tx.connection.execute(
            text(
                "INSERT INTO messages (tenant_id, message_id, namespace, thread_id, turn_id, "
                "turn_sequence, position, role, content, occurred_at, zone) SELECT tenant_id, "
                "'msg_zz', namespace, thread_id, turn_id, turn_sequence, 9, role, 'second', "
                "occurred_at, zone FROM messages LIMIT 1"
            )
        )
        job.start()
        assert reached.wait(20)
        job.join(0.3)
        assert job.is_alive()
    job.join(20)
    assert ended == ["snoozed"]
    assert vectors.embed() == "succeeded"
    assert "msg_zz" in vectors.column(STORED)


def test_passes_store_what_they_have_and_the_next_goes_on(
    vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "ROWS_A_PASS", 4)
    for n in range(9):
        vectors.say(f"turn {n}")
    states = [vectors.run() for _ in range(3)]
    assert states == ["snoozed", "snoozed", "succeeded"]
    assert vectors.jobs()[0].attempt == 1
    assert vectors.jobs()[0].result["vectors"] == 9


def test_an_outage_keeps_what_came_before_it_and_is_retried(vectors: Vectors) -> None:
    for n in range(8):
        vectors.say(f"turn {n}")
    fake = ConceptEmbedder()

    def away_after_one(_: Sequence[str]) -> None:
        if len(fake.requests) > 1:
            raise EmbeddingError(FailureClass.TRANSIENT, "http_503", "HTTP 503")

    fake.before = away_after_one
    deps = vectors.with_embedder(fake)
    assert vectors.run(deps) == "snoozed"
    assert len(vectors.column(STORED)) == 4
    assert vectors.run(deps) == "JobRetried"
    assert vectors.jobs()[0].errors[0]["code"] == "http_503"


@pytest.mark.parametrize(
    ("error", "state", "ends"),
    [
        (EmbeddingError(FailureClass.PERMANENT, "http_401", "HTTP 401"), "dead", "JobDied"),
        (
            EmbeddingError(FailureClass.TRANSIENT, "http_429", "HTTP 429", retry_after_s=60),
            "available",
            "snoozed",
        ),
    ],
)
def test_the_ledger_tells_why_nothing_could_be_embedded(
    vectors: Vectors, error: EmbeddingError, state: str, ends: str
) -> None:
    def fail(_: Sequence[str]) -> None:
        raise error

    vectors.say("a turn")
    assert vectors.run(vectors.with_embedder(ConceptEmbedder(before=fail))) == ends
    assert vectors.jobs()[0].state == state


def test_a_text_that_the_model_refuses_degrades_the_job_and_stops_no_other(
    vectors: Vectors,
) -> None:
    ids = [vectors.say(words)[0] for words in ("one", "two", "cursed", "four", "five")]

    def refuse(texts: Sequence[str]) -> None:
        if any("cursed" in one for one in texts):
            raise EmbeddingError(FailureClass.REFUSED, "refused", "HTTP 400")

    fake = ConceptEmbedder(before=refuse)
    assert vectors.run(vectors.with_embedder(fake)) == "degraded"
    job = vectors.jobs()[0]
    assert job.rejections == [{"id": ids[2], "reason": "refused_by_model"}]
    assert len(vectors.column(STORED)) == 4
    vectors.say("six")
    assert vectors.run(vectors.with_embedder(fake)) == "succeeded"


def test_a_stage_that_policy_switches_off_asks_for_nothing(vectors: Vectors) -> None:
    vectors.call("PUT", f"/v1/namespaces/{NS}", {"stages": {"embed": False}})
    vectors.say("quiet")
    assert vectors.jobs() == []


def test_a_job_of_a_stage_switched_off_meanwhile_is_skipped(vectors: Vectors) -> None:
    vectors.say("quiet")
    vectors.call("PATCH", f"/v1/namespaces/{NS}", {"stages": {"embed": False}})
    if vectors.jobs()[0].state == "available":
        assert vectors.run() == "skipped"
    assert vectors.jobs()[0].reason == "stage_off"


def test_vectors_go_with_their_source_and_can_be_removed_by_id(vectors: Vectors) -> None:
    first, second = vectors.say("one", "two")
    vectors.embed()
    tenant_id = vectors.tenant.tenant_id
    with vectors.database.write(tenant_id) as tx:
        assert remove_vectors(tx, NS, [first, "msg_unknown"]) == 1
    assert vectors.column(STORED) == [second]
    gone = Embedded(VectorKind.MESSAGE, "msg_gone", "main", pack([1.0, 2.0], dimension=2))
    with vectors.database.write(tenant_id) as tx:
        assert save_vectors(tx, NS, VectorModel("m", 2), [gone]) == 0


def test_another_model_s_vectors_are_replaced(vectors: Vectors) -> None:
    (message_id,) = vectors.say("my dog")
    vectors.embed()
    other = ConceptEmbedder(model="fake:next", dimension=16)
    vectors.say("a car")
    deps = vectors.with_embedder(other)
    assert vectors.run(deps) == "succeeded"
    models = "SELECT DISTINCT model || ' ' || dimension FROM message_vectors"
    assert vectors.column(models) == ["fake:next 16"]
    packed = "SELECT vector FROM message_vectors WHERE message_id = :m"
    assert bytes(vectors.column(packed, m=message_id)[0]) == pack(
        concept_vector("my dog", 16), dimension=16
    )


def test_the_step_is_the_one_that_workers_run() -> None:
    assert embed.STEP.kind == embed_step().kind
    assert embed.STEP.prompt_version is None
