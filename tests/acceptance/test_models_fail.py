"""Every model call fails: nothing said is missing from context; the work waits for a retry."""

import pytest

from tests.acceptance.memory import SCRIPTED, Memory, at_minute
from tests.support.stack import RunningSystem
from workers.models.port import TaskKind

TURNS = 7
SIZE = 2
BLOCKS = TURNS // SIZE
TOLD = "Mara works at the Harbour Institute and leads the design."


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


@pytest.mark.parametrize(
    ("failing", "standing"),
    [
        # Without its events a block is not ready, however good its summary is.
        (TaskKind.EXTRACT, "failed"),
        (TaskKind.PROJECT, "ready"),
    ],
)
def test_a_stage_that_fails_for_good_is_told_by_the_turns_receipt_and_can_be_retried(
    system: RunningSystem, memory: Memory, failing: TaskKind, standing: str
) -> None:
    system.script.fail_for_good(failing)
    memory.begin(block_turn_size=1, **SCRIPTED)
    posted = memory.turn("stage", TOLD, "Good.")
    jobs = {job["kind"]: job for job in memory.settled_jobs()}
    assert jobs["summarize"]["state"] == "succeeded"
    assert jobs[failing.value]["state"] == "dead"
    assert list(memory.block_status("main").values()) == [standing]
    if standing == "failed":
        assert said(memory) == [TOLD, "Good."]
    stage = {TaskKind.EXTRACT: "events", TaskKind.PROJECT: "graph"}[failing]
    told = memory.turn_receipt(posted["turn_id"])[stage]
    assert (told["state"], told["error_code"], told["attempt"]) == ("dead", "http_503", 3)

    system.script.follow_rules()
    memory.post(f"/v1/jobs/{jobs[failing.value]['job_id']}/retry", expect=200)

    memory.wait_ready("main", blocks=1)
    memory.settled_jobs()
    assert memory.turn_receipt(posted["turn_id"])[stage]["state"] == "succeeded"
    assert memory.search_graph("Mara")["items"][0]["name"] == "Mara"
