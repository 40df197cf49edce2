"""A graph is built anew beside the live one, compared, switched to, and back."""

from __future__ import annotations

from typing import Any

import httpx

from tests.integration.reprocess.memory import HOME, Memory
from tests.support.databases import Tenant


def test_nothing_of_a_shadow_shows_until_it_is_switched_to(memory: Memory) -> None:
    before = memory.readings()
    assert all(before.values())
    assert len(memory.homes()) == 7
    memory.key = "address"
    begun = memory.reprocess("project")
    memory.run()
    assert memory.version(begun["graph_version_id"])["is_whole"]
    assert memory.readings() == before
    assert memory.switch(begun["graph_version_id"]).json()["switched"]
    assert "Ben: address: Rome" in memory.homes()
    assert not any("home:" in one for one in memory.homes())


def test_switching_back_restores_graph_and_search_exactly(memory: Memory) -> None:
    first, before = memory.live_id(), memory.readings()
    memory.key = "address"
    begun = memory.reprocess("project")
    memory.run()
    memory.switch(begun["graph_version_id"])
    anew = memory.readings()
    assert anew["graph"] != before["graph"]
    assert anew["events"] == before["events"]
    assert memory.switch(first).json()["enqueued"] == 0
    assert memory.readings() == before
    memory.switch(begun["graph_version_id"])
    assert memory.readings() == anew


def test_the_same_model_builds_the_same_graph_and_the_report_says_so(memory: Memory) -> None:
    begun = memory.reprocess("project")
    memory.run()
    diff = memory.diff(begun["graph_version_id"])
    counted = {kind: (one["added"], one["changed"], one["gone"]) for kind, one in _kinds(diff)}
    assert counted == dict.fromkeys(("nodes", "facts", "edges", "events"), (0, 0, 0))
    assert (diff["nodes"]["same"], diff["events"]["same"]) == (7, 8)


def test_the_report_names_facts_added_changed_and_gone(memory: Memory) -> None:
    memory.key = "address"
    diff = memory.diff(_built(memory, "project"))
    assert (diff["facts"]["added"], diff["facts"]["gone"]) == (8, 8)
    added = diff["facts"]["items"]["added"]
    assert "person ann: address" in {one["subject"] for one in added}
    assert diff["nodes"]["same"] == 7


def test_a_build_that_was_stopped_in_the_middle_goes_on_where_it_stood(memory: Memory) -> None:
    begun = memory.reprocess("project")
    assert begun["jobs"] == 4
    memory.run(at_most=2)
    calls = memory.calls
    progress = memory.version(begun["graph_version_id"])["progress"]
    assert progress == {"total": 4, "done": 2, "waiting": 2, "failed": 0}
    _lose_jobs(memory)
    assert memory.version(begun["graph_version_id"])["progress"]["failed"] == 2
    again = memory.reprocess("project")
    assert (again["joined"], again["jobs"]) == (True, 2)
    assert again["graph_version_id"] == begun["graph_version_id"]
    memory.run()
    assert memory.calls == calls + 2
    assert memory.version(begun["graph_version_id"])["is_whole"]


def test_asking_twice_joins_the_running_build_and_adds_no_job(memory: Memory) -> None:
    first = memory.reprocess("project")
    second = memory.reprocess("project")
    assert (second["joined"], second["jobs"]) == (True, 0)
    assert second["graph_version_id"] == first["graph_version_id"]
    other = memory.client.post(f"{HOME}/reprocess", json={"stages": ["extract"]})
    assert (other.status_code, other.json()["code"]) == (409, "reprocess_running")


def test_a_version_is_not_switched_to_before_it_is_whole(memory: Memory) -> None:
    version_id = memory.reprocess("project")["graph_version_id"]
    memory.run(at_most=3)
    refused = memory.switch(version_id)
    assert (refused.status_code, refused.json()["code"]) == (409, "shadow_incomplete")
    memory.run()
    assert memory.switch(version_id).status_code == 200


def test_failed_blocks_refuse_the_switch_until_they_are_accepted(memory: Memory) -> None:
    memory.failing = "Cleo"
    version_id = _built(memory, "project")
    assert memory.version(version_id)["progress"]["failed"] == 1
    refused = memory.switch(version_id)
    assert (refused.status_code, refused.json()["code"]) == (409, "shadow_incomplete")
    memory.failing = None
    assert memory.switch(version_id, accept_failed=True).json()["enqueued"] == 1
    assert "Cleo: home: Lima" not in memory.homes()
    memory.run()
    assert "Cleo: home: Lima" in memory.homes()


def test_what_is_said_while_a_version_is_built_is_in_it(memory: Memory) -> None:
    memory.key = "address"
    version_id = memory.reprocess("project")["graph_version_id"]
    memory.run(at_most=1, queue="backfill")
    memory.say("Hana lives in Nara", "Ivo lives in Split")
    memory.run(queue="summarize")
    memory.run(queue="extract")
    memory.run(queue="project")
    memory.run()
    assert memory.version(version_id)["progress"]["total"] == 5
    memory.say("Jana lives in Brno", "Kofi lives in Accra")
    memory.run()
    assert memory.version(version_id)["progress"]["total"] == 5
    assert memory.switch(version_id).json()["enqueued"] == 1
    memory.run()
    assert {"Hana: address: Nara", "Kofi: address: Accra"} <= memory.homes()


def test_what_was_said_since_is_not_lost_by_switching_back(memory: Memory) -> None:
    first = memory.live_id()
    memory.switch(_built(memory, "project"))
    memory.say("Hana lives in Nara", "Ivo lives in Split")
    memory.run()
    assert memory.switch(first).json()["enqueued"] == 1
    memory.run()
    assert "Hana: home: Nara" in memory.homes()


def test_live_jobs_are_not_in_the_way_of_a_build_nor_it_of_them(memory: Memory) -> None:
    memory.say("Hana lives in Nara", "Ivo lives in Split")
    memory.run(queue="summarize")
    memory.run(queue="extract")
    begun = memory.reprocess("project")
    assert begun["jobs"] == 5
    memory.run(queue="project")
    assert "Hana: home: Nara" in memory.homes()
    memory.run()
    assert memory.version(begun["graph_version_id"])["is_whole"]


def test_a_dropped_version_leaves_no_row_and_no_job(memory: Memory) -> None:
    before = memory.readings()
    version_id = memory.reprocess("project")["graph_version_id"]
    memory.run(at_most=2)
    dropped = memory.client.post(f"{HOME}/graph-versions/{version_id}/drop")
    assert dropped.json()["cancelled_jobs"] == 2
    assert memory.run() == 0
    left = memory.sql("SELECT 1 FROM nodes WHERE graph_version_id = :v", v=version_id)
    left += memory.sql("SELECT 1 FROM search_documents WHERE version = :v", v=version_id)
    assert left == []
    assert memory.readings() == before
    assert memory.switch(version_id).json()["code"] == "version_dropped"
    live = memory.client.post(f"{HOME}/graph-versions/{memory.live_id()}/drop")
    assert (live.status_code, live.json()["code"]) == (409, "version_live")


def test_without_shadow_the_version_is_switched_to_when_it_is_whole(memory: Memory) -> None:
    memory.key = "address"
    version_id = memory.reprocess("project", shadow=False)["graph_version_id"]
    memory.run(at_most=3)
    assert memory.live_id() != version_id
    memory.run()
    assert memory.live_id() == version_id
    assert "Ben: address: Rome" in memory.homes()


def test_the_answer_tells_what_the_run_would_cost(memory: Memory) -> None:
    estimate = memory.reprocess("summarize")["estimate"]
    assert [one["kind"] for one in estimate["steps"]] == ["summarize", "extract", "project"]
    assert [one["jobs"] for one in estimate["steps"]] == [4, 4, 4]
    assert estimate["tokens"] > 0


def test_another_tenant_finds_no_version(memory: Memory, other_tenant: Tenant) -> None:
    version_id = memory.reprocess("project")["graph_version_id"]
    headers = other_tenant.headers
    with httpx.Client(base_url=memory.client.base_url, headers=headers) as stranger:
        home = f"{HOME}/graph-versions/{version_id}"
        answers = [
            stranger.post(f"{HOME}/reprocess", json={"stages": ["project"]}),
            stranger.get(f"{HOME}/graph-versions"),
            stranger.get(home),
            stranger.get(f"{home}/diff"),
            stranger.post(f"{home}/switch"),
            stranger.post(f"{home}/drop"),
        ]
    assert [one.status_code for one in answers] == [404] * 6


def _built(memory: Memory, *stages: str) -> str:
    version_id = str(memory.reprocess(*stages)["graph_version_id"])
    memory.run()
    return version_id


def _kinds(diff: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(kind, diff[kind]) for kind in ("nodes", "facts", "edges", "events")]


def _lose_jobs(memory: Memory) -> None:
    """Let the waiting jobs die, as workers that are killed three times do."""
    memory.sql(
        "UPDATE jobs SET state = 'dead', finalized_at = now() "
        "WHERE queue = 'backfill' AND state = 'available'"
    )
