"""Every model call fails: nothing said is missing from context; the work waits for a retry."""

from tests.acceptance.memory import SCRIPTED, Memory, at_minute
from tests.support.stack import RunningSystem

TURNS = 7
SIZE = 2
BLOCKS = TURNS // SIZE


def said(memory: Memory) -> list[str]:
    """Everything the context holds word for word, in its order: unready blocks, then the tail."""
    context = memory.context("main")
    return [
        message["content"]
        for part in (*(block["messages"] for block in context["blocks"]), context["open_tail"])
        for message in part
    ]


def test_nothing_said_is_missing_while_models_fail_and_all_is_derived_once_they_heal(
    system: RunningSystem, memory: Memory
) -> None:
    system.script.fail_for_good()
    memory.begin(block_turn_size=SIZE, **SCRIPTED)
    posted: list[str] = []
    for number in range(TURNS):
        pair = [f"We decided that plan {number} of Orion holds.", f"Plan {number} it is."]
        memory.turn(f"failing-{number}", *pair, occurred_at=at_minute(number))
        posted += pair

    dead = memory.settled_jobs()

    assert said(memory) == posted
    assert list(memory.block_status("main").values()) == ["failed"] * BLOCKS
    assert [(job["kind"], job["state"], job["attempt"]) for job in dead] == [
        ("summarize", "dead", 3)
    ] * BLOCKS
    for job in dead:
        assert job["reason"] == "http_503"
        assert [error["code"] for error in job["errors"]] == ["http_503"] * 3
    assert memory.jobs(state="dead") == dead, "the dead letters"
    assert memory.search_raw("plan 3 Orion")["items"]

    system.script.follow_rules()
    for job in dead:
        assert memory.post(f"/v1/jobs/{job['job_id']}/retry", expect=200)["state"] == "available"

    memory.wait_ready("main", blocks=BLOCKS)
    assert memory.jobs(state="dead") == []
    assert memory.search_events("plan of Orion")["items"]
    tail = memory.context("main")["open_tail"]
    assert [message["content"] for message in tail] == posted[-2:]
