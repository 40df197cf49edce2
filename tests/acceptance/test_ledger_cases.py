"""Jobs that end badly, in bursts or unseen, by the ids of the handed cases."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.acceptance.memory import FINAL, SCRIPTED, Memory, turn
from tests.support.stack import QUICK, RunningSystem

IS_FULL = bool(os.environ.get("STRATAGATE_TEST_FULL"))
POSTS, CLIENTS = (500, 50) if IS_FULL else (100, 20)
_SESSIONS = (
    "SELECT count(*) AS n FROM pg_stat_activity "
    "WHERE application_name = 'stratagate' AND datname = current_database()"
)


def test_stuck_03_a_dead_job_says_why_cannot_be_cancelled_and_is_retried(
    system: RunningSystem, memory: Memory
) -> None:
    system.script.fail_for_good()
    memory.begin(block_turn_size=1, **SCRIPTED)
    memory.turn("dead-1", "We decided to move the archive to Bergen.")
    [dead] = memory.settled_jobs()
    path = f"/v1/jobs/{dead['job_id']}"

    assert (dead["state"], dead["attempt"]) == ("dead", 3)
    assert memory.get(path)["errors"][-1]["code"] == "http_503"
    refused = memory.post(f"{path}/cancel", expect=409)
    assert refused["code"] == "job_final"

    system.script.follow_rules()
    assert memory.post(f"{path}/retry", expect=200)["state"] == "available"
    assert memory.post(f"{path}/retry", expect=409)["code"] == "job_not_retryable"
    memory.wait_ready("main", blocks=1)
    assert memory.get(path)["state"] == "succeeded"
    assert memory.jobs(state="dead") == []


def test_lost_12_what_is_said_to_be_searchable_is_found(memory: Memory) -> None:
    memory.begin(block_turn_size=1)
    posted = memory.turn("marmot", "Codename of the spring release is Marmot.", "Saved.")
    memory.settled_jobs()

    receipt = memory.turn_receipt(posted["turn_id"])
    assert memory.search_raw("Marmot")["items"]
    events = memory.search_events("spring release codename")["items"]
    assert events or receipt["extracted"]["state"] == "succeeded_empty", receipt


@pytest.mark.timeout(600)
def test_stuck_12_a_burst_is_taken_or_told_to_wait_and_all_of_it_is_derived(
    system: RunningSystem, memory: Memory
) -> None:
    memory.begin(block_turn_size=5)

    def post(number: int) -> tuple[int, bool]:
        thread = f"t{number % CLIENTS}"
        body = turn(f"burst-{number}", f"Crate {number} is in hall {number}.", thread_id=thread)
        answer = memory.http.post(f"{memory.written}/turns", json=body)
        return answer.status_code, "Retry-After" in answer.headers

    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(post, range(POSTS)))

    codes = Counter(code for code, _ in answers)
    assert set(codes) <= {201, 429}, codes
    assert all(waits for code, waits in answers if code == 429)
    [sessions] = system.sql(_SESSIONS)
    processes = len(system.children) + 3  # the worker has two children, the test a pool
    assert sessions["n"] <= processes * int(QUICK["STRATAGATE_POOL_SIZE"])
    assert memory.get(memory.written)["turn_count"] == codes[201]
    jobs = memory.settled_jobs(within_s=300)
    assert {job["state"] for job in jobs} <= FINAL - {"dead"}
    threads = {f"t{number}" for number in range(CLIENTS)}
    ready = [status for thread in threads for status in memory.block_status(thread).values()]
    assert set(ready) == {"ready"}
