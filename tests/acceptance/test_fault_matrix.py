"""The fault table in its small form: every kind of process, at every boundary of the walk.

One run carries all of it out, since what breaks at once tells more than what breaks alone;
`python3 -m deploy chaos` is the full form.
"""

import json
from itertools import islice

import httpx
import pytest

from deploy.chaos.invariants import AFTER_FAULTS, AFTER_RETRY
from deploy.chaos.plan import PLAYS_A_ROUND, TARGETS, Boundary, Fault, FaultKind, endless_plan
from deploy.chaos.provider import provider
from deploy.chaos.run import Chaos
from deploy.local.postgres_home import discard_home
from tests.support.fault_plays import PLAYS
from tests.support.servers import short_folder

MATRIX = (
    Fault(FaultKind.WORKER_CHILD_KILLED, Boundary.SUMMARIZING),
    Fault(FaultKind.RELAY_KILLED, Boundary.DUE),
    Fault(FaultKind.MODEL_MALFORMED, Boundary.SUMMARIZING, lasts_s=1.0),
    Fault(FaultKind.WORKER_KILLED, Boundary.EXTRACTING),
    Fault(FaultKind.BROKER_FLUSHED, Boundary.RUNG),
    Fault(FaultKind.POSTGRES_KILLED, Boundary.PROJECTING),
    Fault(FaultKind.RINGS_REPEATED, Boundary.FINISHED),
    Fault(FaultKind.CLOCK_AHEAD, Boundary.EXTRACTING),
    Fault(FaultKind.BROKER_EMPTIED, Boundary.DUE),
    Fault(FaultKind.UPKEEP_KILLED, Boundary.PROJECTING),
    Fault(FaultKind.API_KILLED, Boundary.POSTED),
    Fault(FaultKind.PROVIDER, Boundary.SUMMARIZING, play="cut"),
    Fault(FaultKind.WORKER_PAUSED, Boundary.EXTRACTING),
    Fault(FaultKind.PROVIDER, Boundary.RUNG, play="reset"),
)
PATIENCE_S = 15.0
"""On a busy machine, work comes to a boundary late; on a quiet one, within a second."""


def test_no_turn_is_lost_and_nothing_is_done_twice_whatever_breaks_wherever() -> None:
    with short_folder() as folder, provider() as played:
        chaos = Chaos(folder / "data", plan=MATRIX, provider=played, seed=1, boundary_s=PATIENCE_S)
        try:
            report = chaos.run(faults=len(MATRIX))
        finally:
            discard_home(folder / "data" / "postgres")

    told = report.as_markdown()
    done = [one.fault for one in report.injected]
    assert len(done) + report.missed.total() == len(MATRIX), told
    # A fault may find its target just broken by another one; most must not.
    assert len(done) >= len(MATRIX) - 2, told
    assert {one.name for one in report.verdicts} == {
        "faults_met_work",
        *(one.name for one in (*AFTER_FAULTS, *AFTER_RETRY)),
    }
    assert {one.name: one.violations for one in report.verdicts if not one.holds} == {}, told
    assert report.numbers["turns_accepted"] >= len(MATRIX)
    assert report.jobs.get("succeeded", 0) > 0, told
    assert json.loads(json.dumps(report.as_json()))["passed"]


def test_the_small_form_meets_every_boundary_and_every_process() -> None:
    assert {fault.boundary for fault in MATRIX} == set(Boundary)
    processes = {"worker", "relay", "upkeep", "api", "postgres", "valkey"}
    assert {fault.target for fault in MATRIX} >= processes


@pytest.mark.parametrize("kind", [k for k in FaultKind if k is not FaultKind.PROVIDER])
def test_the_full_form_breaks_everything_at_every_boundary(kind: FaultKind) -> None:
    plan = _rounds(len(Boundary))
    met = [fault.boundary for fault in plan if fault.kind is kind]
    assert sorted(met) == sorted(Boundary)
    assert len(plan) <= 300
    assert (kind in TARGETS) != kind.startswith("model_")


def test_the_full_form_plays_every_fault_of_the_fault_server() -> None:
    faults = list(islice(endless_plan(7, plays=tuple(PLAYS)), 300))
    assert {fault.play for fault in faults if fault.kind is FaultKind.PROVIDER} == set(PLAYS)


def test_a_fault_server_of_its_own_tells_what_it_can_play_and_is_heard() -> None:
    with provider() as played:
        assert set(played.plays()) == set(PLAYS) - {"good", "quota"}
        assert played.play("html_502") == 0
        base_url = played.settings()["STRATAGATE_MODEL_BASE_URL"]
        answer = httpx.post(f"{base_url}/chat/completions", json={"model": "any"}, timeout=10)
        assert (answer.status_code, played.asked()) == (502, 1)


def _rounds(number: int) -> list[Fault]:
    a_round = len(FaultKind) - 1 + PLAYS_A_ROUND
    return list(islice(endless_plan(7, plays=tuple(PLAYS)), number * a_round))


def test_the_same_seed_gives_the_same_order_and_another_one_another() -> None:
    first, same, other = (
        list(islice(endless_plan(seed, plays=("hang", "cut")), 50)) for seed in (3, 3, 4)
    )
    assert first == same != other
