"""A worker that dies, or is away, in the middle of a model call only delays its job."""

from tests.acceptance.memory import SCRIPTED, Memory
from tests.support.stack import RunningSystem
from workers.models.port import TaskKind

TURNS = (
    "We decided to use pnpm as the package manager of Orion.",
    "Mara joined the team of Orion as its designer.",
)


def tell(memory: Memory) -> None:
    memory.begin(block_turn_size=len(TURNS), **SCRIPTED)
    for number, text in enumerate(TURNS):
        memory.turn(f"told-{number}", text)


def test_a_job_whose_worker_was_killed_is_done_once_by_another_attempt(
    system: RunningSystem, memory: Memory
) -> None:
    undisturbed = Memory(system, memory.tenant, "project:undisturbed")
    tell(undisturbed)
    undisturbed.settled_jobs()
    system.script.hang(TaskKind.EXTRACT)
    tell(memory)
    wait_until_thinking(system, memory)

    system.kill("worker")
    system.script.follow_rules()
    system.start("worker")

    jobs = {job["kind"]: job for job in memory.settled_jobs()}
    assert {kind: job["state"] for kind, job in jobs.items()} == {
        "summarize": "succeeded",
        "extract": "succeeded",
        "project": "succeeded",
    }
    extraction = jobs["extract"]
    assert extraction["attempt"] == 2
    assert [error["code"] for error in extraction["errors"]] == ["lease_expired"]
    assert titles(memory) == titles(undisturbed) != []
    memory.wait_ready("main", blocks=1)


def test_a_worker_that_comes_back_after_its_lease_changes_nothing(
    system: RunningSystem, memory: Memory
) -> None:
    system.script.hang(TaskKind.EXTRACT, seconds=5)
    tell(memory)
    wait_until_thinking(system, memory)
    system.pause("worker")
    system.script.follow_rules()
    system.start_spare("worker")
    done = memory.settled_jobs()
    told = titles(memory)
    assert {job["kind"]: job["attempt"] for job in done}["extract"] == 2

    system.resume("worker")

    # The task's result as its worker reports it, once it tried to store what it had thought.
    system.wait_until(lambda: "'lease_lost'" in system.log("worker"), "the late worker gave up")
    assert memory.jobs() == done
    assert titles(memory) == told != []


def wait_until_thinking(system: RunningSystem, memory: Memory) -> None:
    """Wait until the worker has renewed its lease: then it is well inside the model call."""

    def leases() -> set[object]:
        rows = system.sql(
            "SELECT lease_until FROM jobs WHERE namespace = %s AND kind = 'extract'"
            " AND state = 'running'",
            memory.namespace,
        )
        return {row["lease_until"] for row in rows}

    first = system.wait_until(leases, "the extraction runs")
    system.wait_until(lambda: leases() - first, "its lease is renewed")


def titles(memory: Memory) -> list[str]:
    events = memory.get(f"{memory.read}/events", limit=100)["items"]
    return sorted(event["title"] for event in events)
