from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from shared.domain.jobs import JobKind
from tests.integration.vectors.conftest import NS, Vectors
from workers.models.rules import RulesModel
from workers.runner import run_job


def derive(vectors: Vectors, *said: str) -> None:
    """Seal each turn as a block, extract its events by rule, and embed."""
    vectors.call("PUT", f"/v1/namespaces/{NS}", {"block_turn_size": 1})
    for one in said:
        vectors.say(one)
    deps = replace(vectors.deps, model=RulesModel())
    for kind in (JobKind.SUMMARIZE, JobKind.EXTRACT, JobKind.EMBED):
        waiting = "SELECT job_id FROM jobs WHERE kind = :k AND state = 'available'"
        while ids := vectors.column(waiting, k=kind.value):
            run_job(vectors.tenant.tenant_id, ids[0], deps)


def found(reply: Any) -> list[str]:
    return [item["title"] for item in reply["items"]]


def test_an_event_that_shares_no_word_is_found_by_its_meaning(vectors: Vectors) -> None:
    derive(
        vectors,
        "I adopted a puppy from the shelter yesterday.",
        "I moved to Berlin last month.",
        "I finished my thesis in May 2025.",
    )
    assert vectors.column("SELECT count(*) FROM event_vectors") == vectors.column(
        "SELECT count(*) FROM events"
    )
    reply = vectors.search("Does anyone own a hound?", "events")
    assert "puppy" in found(reply)[0].lower() + reply["items"][0]["summary"].lower()
    assert "Close to the query in meaning." in reply["items"][0]["match_reason"]
    assert reply["degraded_lanes"] == []


def test_filters_stay_hard_for_what_meaning_finds(vectors: Vectors) -> None:
    derive(vectors, "I adopted a puppy from the shelter yesterday.", "I moved to Berlin in May.")
    reply = vectors.search("a hound", "events", participants=["Nobody Known"])
    assert reply["items"] == []
    assert reply["empty_reason"] == "filtered_out"


@pytest.mark.parametrize("status", ["forgotten", "archived"])
def test_an_event_that_is_set_aside_is_not_found_by_its_meaning(
    vectors: Vectors, status: str
) -> None:
    derive(vectors, "I adopted a puppy from the shelter yesterday.")
    with vectors.database.write(vectors.tenant.tenant_id) as tx:
        tx.connection.execute(
            text("UPDATE events SET status = :s, status_before = 'active'"), {"s": status}
        )
    assert vectors.search("a hound", "events")["items"] == []


def test_context_shows_no_event_only_because_something_is_always_nearest(
    vectors: Vectors,
) -> None:
    derive(vectors, "I adopted a puppy from the shelter yesterday.")
    path = f"/v1/retrieval/{NS}/context"
    reply = vectors.call("POST", path, {"thread_id": "elsewhere", "query": "quantum chemistry"})
    assert reply["activated"]["events"] == []
