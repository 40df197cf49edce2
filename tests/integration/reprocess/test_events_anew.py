"""Events are derived anew beside those that readers see: carried over, changed, gone, and back."""

from __future__ import annotations

from typing import Any

from tests.integration.reprocess.memory import READ, Memory

ALL_SAID = 8


def test_equal_events_are_carried_over_with_id_weight_pin_and_status(memory: Memory) -> None:
    pinned, forgotten = _event(memory, "Ben"), _event(memory, "Dan")
    memory.sql("UPDATE events SET pinned = true, mention_count = 3 WHERE event_id = :e", e=pinned)
    memory.sql(
        "UPDATE events SET status = 'forgotten', status_before = 'active' WHERE event_id = :e",
        e=forgotten,
    )
    before = memory.readings()
    version_id = _built(memory, "extract")
    assert memory.diff(version_id)["events"] == {
        "added": 0,
        "changed": 0,
        "gone": 0,
        "same": ALL_SAID - 1,
        "items": {"added": [], "changed": [], "gone": []},
    }
    memory.switch(version_id)
    after = memory.readings()
    assert after["events"] == before["events"]
    assert after["events Ann"] == before["events Ann"]
    assert len(memory.sql("SELECT 1 FROM events")) == ALL_SAID
    assert "Dan" not in str(memory.homes())


def test_reworded_events_show_only_after_the_switch_and_back_restores_all(
    memory: Memory,
) -> None:
    first, before = memory.live_id(), memory.readings()
    memory.verb = "dwells in"
    version_id = _built(memory, "extract")
    assert memory.readings() == before
    found = memory.diff(version_id)["events"]
    assert (found["added"], found["changed"], found["gone"]) == (0, ALL_SAID, 0)
    assert {
        "before": "Ben lives in Rome",
        "after": "Ben dwells in Rome",
    } in [{"before": c["before"], "after": c["after"]} for c in found["items"]["changed"]]
    memory.switch(version_id)
    titles = {one["title"] for one in memory.readings()["events"]["items"]}
    assert titles == {one.replace("lives", "dwells") for one in _titles(before)}
    assert memory.switch(first).json()["enqueued"] == 0
    assert memory.readings() == before


def test_a_carried_event_stays_superseded_while_its_successor_is_carried_too(
    memory: Memory,
) -> None:
    first = memory.live_id()
    oslo = _event(memory, "Ann", "Oslo")
    old_turku = _successor(memory, oslo)
    memory.verb, memory.retold = "dwells in", frozenset({"Gil"})
    before = memory.readings()
    version_id = _built(memory, "extract")
    assert _successor(memory, oslo) == old_turku
    memory.switch(version_id)
    assert _successor(memory, oslo) == old_turku
    memory.switch(first)
    assert memory.readings() == before


def test_a_new_successor_takes_over_in_its_derivation_and_leaves_at_the_switch_back(
    memory: Memory,
) -> None:
    first, before = memory.live_id(), memory.readings()
    oslo = _event(memory, "Ann", "Oslo")
    old_turku = _successor(memory, oslo)
    _retell_turku_only(memory)
    version_id = _built(memory, "extract")
    assert _successor(memory, oslo) == old_turku
    found = memory.diff(version_id)["events"]
    assert (found["changed"], found["same"]) == (1, ALL_SAID - 1)
    memory.switch(version_id)
    new_turku = _successor(memory, oslo)
    assert new_turku not in (None, old_turku)
    assert "Ann: home: Turku" in memory.homes()
    memory.switch(first)
    assert _successor(memory, oslo) == old_turku
    assert memory.readings() == before


def test_what_a_person_decided_while_another_derivation_was_live_stays_decided(
    memory: Memory,
) -> None:
    first = memory.live_id()
    memory.switch(_built(memory, "extract"))
    ben = _event(memory, "Ben")
    memory.sql(
        "UPDATE events SET status = 'forgotten', status_before = 'active' WHERE event_id = :e",
        e=ben,
    )
    memory.switch(first)
    titles = _titles(memory.readings())
    assert "Ben lives in Rome" not in titles
    assert len(titles) == ALL_SAID - 1


def test_receipts_keep_naming_the_events_that_were_used(memory: Memory) -> None:
    found = memory.client.post(f"{READ}/events/search", json={"query": "Ben Rome"}).json()
    ref = found["items"][0]["evidence_ref"]
    assess = {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"}
    home = f"/v1/batches/{found['batch_id']}"
    assert memory.client.post(f"{home}/assessment", json=assess).status_code == 200
    memory.verb = "dwells in"
    memory.switch(_built(memory, "extract"))
    use = {"evidence_refs": [ref], "receipt_id": "answer-1"}
    used = memory.client.post(f"{home}/use", json=use).json()
    assert [f"event:{one['event_id']}" for one in used["events"]] == [ref]
    rows = memory.sql("SELECT event_id FROM use_receipt_events")
    assert [f"event:{row.event_id}" for row in rows] == [ref]


def test_events_said_while_a_derivation_is_built_are_in_it(memory: Memory) -> None:
    memory.verb = "dwells in"
    version_id = memory.reprocess("extract")["graph_version_id"]
    memory.run(at_most=2, queue="backfill")
    memory.say("Hana lives in Nara", "Ivo lives in Split")
    memory.run()
    memory.say("Jana lives in Brno", "Kofi lives in Accra")
    memory.run()
    assert memory.switch(version_id).json()["enqueued"] == 1
    memory.run()
    titles = _titles(memory.readings())
    assert "Hana dwells in Nara" in titles
    assert "Kofi dwells in Accra" in titles
    assert "Kofi: home: Accra" in memory.homes()


def test_an_extraction_that_began_before_the_switch_ends_in_what_is_live_then(
    memory: Memory,
) -> None:
    version_id = _built(memory, "extract")
    memory.say("Hana lives in Nara", "Ivo lives in Split")
    memory.run(queue="summarize")
    extract = memory.deps.model.behaviours["extract"]  # type: ignore[attr-defined] # scripted

    def switched_meanwhile(task: Any) -> Any:
        memory.switch(version_id)
        return extract(task)

    behaviours = {**memory.deps.model.behaviours, "extract": switched_meanwhile}  # type: ignore[attr-defined] # scripted
    memory.deps.model.behaviours = behaviours  # type: ignore[attr-defined] # scripted
    memory.run()
    assert "Hana lives in Nara" in _titles(memory.readings())
    assert "Hana: home: Nara" in memory.homes()


def test_blocks_outside_of_the_bounds_keep_their_events(memory: Memory) -> None:
    memory.verb = "dwells in"
    version_id = memory.reprocess("extract", **{"from": "2026-02-05T00:00:00+01:00"})
    memory.run()
    memory.switch(version_id["graph_version_id"])
    titles = _titles(memory.readings())
    assert "Ben lives in Rome" in titles
    assert "Gil dwells in Doha" in titles
    assert {"Ben: home: Rome", "Gil: home: Doha"} <= memory.homes()


def test_summaries_are_told_anew_only_where_that_stage_was_asked_for(memory: Memory) -> None:
    memory.verb = "dwells in"
    memory.switch(_built(memory, "summarize"))
    rows = memory.sql(
        "SELECT derivation_version AS v, count(*) AS n FROM block_summaries GROUP BY 1"
    )
    assert {row.v: row.n for row in rows} == {1: 4, 2: 4}
    assert memory.sql("SELECT 1 FROM jobs WHERE kind = 'extract' AND subject LIKE 'blk%'")


def _retell_turku_only(memory: Memory) -> None:
    extract = memory.deps.model.behaviours["extract"]  # type: ignore[attr-defined] # scripted

    def retold(task: Any) -> Any:
        said = " ".join(one.content for one in task.input.messages)
        memory.verb = "dwells in" if "Turku" in said else "lives in"
        memory.retold = frozenset({"Ann"})
        return extract(task)

    behaviours = {**memory.deps.model.behaviours, "extract": retold}  # type: ignore[attr-defined] # scripted
    memory.deps.model.behaviours = behaviours  # type: ignore[attr-defined] # scripted


def _built(memory: Memory, *stages: str) -> str:
    version_id = str(memory.reprocess(*stages)["graph_version_id"])
    memory.run()
    assert memory.version(version_id)["is_whole"]
    return version_id


def _event(memory: Memory, *words: str) -> str:
    rows = memory.sql("SELECT event_id, title FROM events ORDER BY event_id")
    return next(str(row.event_id) for row in rows if all(word in row.title for word in words))


def _successor(memory: Memory, event_id: str) -> str | None:
    rows = memory.sql("SELECT superseded_by FROM events WHERE event_id = :e", e=event_id)
    successor: str | None = rows[0].superseded_by
    return successor


def _titles(readings: dict[str, Any]) -> set[str]:
    return {one["title"] for one in readings["events"]["items"]}
