"""What operators see and do: `stratagate embed`, the doctor, readiness."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from shared.cli import command_line
from shared.settings import Settings
from shared.store.database import Database
from tests.integration.vectors.conftest import NS, Vectors
from tests.support.concept_embedder import ConceptEmbedder
from workers import doctor_cli, embed_cli

app = command_line("embed")


@pytest.fixture(autouse=True)
def _settings(on: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_cli, "get_settings", lambda: on)
    return


def command(*words: str) -> str:
    result = CliRunner().invoke(app, ["embed", *words, "--json"])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_new_model_s_vectors_are_made_on_the_backfill_queue(vectors: Vectors) -> None:
    vectors.say("my dog")
    former = ConceptEmbedder(model="fake:former", dimension=16)
    assert vectors.run(vectors.with_embedder(former)) == "succeeded"
    tenant = vectors.tenant.tenant_id
    assert '"fake:former"' in command("--tenant", tenant, "--namespace", NS)
    job = vectors.jobs()[-1]
    assert (job.queue, job.subject) == ("backfill", NS)
    assert command("--tenant", tenant, "--all").count(job.job_id) == 1
    assert vectors.embed() == "succeeded"
    assert vectors.column("SELECT DISTINCT model FROM message_vectors") == ["openai:concepts"]
    assert '"openai:concepts"' in command("--tenant", tenant, "--all", "--status")


def test_what_a_model_refused_is_tried_again(vectors: Vectors) -> None:
    vectors.say("my dog")
    vectors.embed()
    with vectors.database.write(vectors.tenant.tenant_id) as tx:
        tx.connection.execute(text("UPDATE message_vectors SET vector = NULL"))
    command("--tenant", vectors.tenant.tenant_id, "--namespace", NS)
    assert vectors.embed() == "succeeded"
    assert vectors.jobs()[-1].result["vectors"] == 1


@pytest.mark.parametrize("words", [[], ["--all", "--namespace", NS]])
def test_one_namespace_or_all_must_be_named(words: list[str]) -> None:
    assert CliRunner().invoke(app, ["embed", *words]).exit_code == 2


def test_readiness_tells_what_makes_vectors_and_whether_it_works(vectors: Vectors) -> None:
    vectors.say("my dog")
    vectors.embed()
    vectors.search("a dog")
    found = vectors.call("GET", "/health/ready")["parts"]["vectors"]
    assert found == {"ok": True, "provider": "openai", "model": "openai:concepts", "dimension": 24}


def test_the_doctor_finds_vectors_of_other_models_and_an_embedder_that_cannot_work(
    own_settings: Settings, own_database: Database, on: Settings
) -> None:
    named = {name: getattr(on, name) for name in Settings.model_fields if "embeddings" in name}
    settings = own_settings.model_copy(update=named)
    seen = doctor_cli._vectors(settings)
    assert seen is not None
    assert (seen.model, seen.wrong, seen.others) == ("openai:concepts", None, {})
    broken = settings.model_copy(update={"embeddings_base_url": None})
    found = doctor_cli._vectors(broken)
    assert found is not None
    assert found.wrong is not None
    assert found.wrong.startswith("not_configured")
    assert doctor_cli._vectors(own_settings) is None
