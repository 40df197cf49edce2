"""The broker is a doorbell: without it turns are accepted and found; its loss loses nothing."""

from tests.acceptance.memory import Memory
from tests.support.stack import RunningSystem

TURNS = 6


def test_turns_are_taken_without_a_broker_and_derived_once_an_empty_one_is_back(
    system: RunningSystem, memory: Memory
) -> None:
    memory.begin(block_turn_size=2)
    system.stop_broker()

    for number in range(TURNS):
        memory.turn(f"away-{number}", f"We decided that gate {number} of Orion is painted red.")

    hits = memory.search_raw("gate painted Orion", limit=20)["items"]
    assert len([hit for hit in hits if hit["role"] == "user"]) == TURNS
    assert list(memory.block_status("main").values()) == ["pending"] * 3
    said = [m["content"] for b in memory.context("main")["blocks"] for m in b["messages"]]
    assert len(said) == 2 * TURNS
    health = memory.get("/health/ready")
    assert (health["status"], health["parts"]["broker"]["ok"]) == ("degraded", False)

    system.start_broker_empty()

    memory.wait_ready("main", blocks=3, within_s=90)
    assert {job["state"] for job in memory.settled_jobs()} == {"succeeded"}
    assert memory.search_events("Which colour has gate 3 of Orion?")["items"]
