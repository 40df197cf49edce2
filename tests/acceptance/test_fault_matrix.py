"""The fault table in its small form: every kind of process, at every boundary of the walk.

One run carries all of it out, since what breaks at once tells more than what breaks alone;
`python3 -m deploy chaos` is the full form.
"""

import json
from itertools import islice

import pytest

from deploy.chaos.invariants import AFTER_FAULTS, AFTER_RETRY
from deploy.chaos.plan import TARGETS, Boundary, Fault, FaultKind, endless_plan
from deploy.chaos.run import Chaos
from deploy.local.postgres_home import discard_home
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
)
PATIENCE_S = 15.0
"""On a busy machine, work comes to a boundary late; on a quiet one, within a second."""


def test_no_turn_is_lost_and_nothing_is_done_twice_whatever_breaks_wherever() -> None:
    with short_folder() as folder:
        chaos = Chaos(folder / "data", plan=MATRIX, seed=1, boundary_s=PATIENCE_S)
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


@pytest.mark.parametrize("kind", FaultKind)
def test_the_full_form_breaks_everything_at_every_boundary(kind: FaultKind) -> None:
    plan = list(islice(endless_plan(7), len(FaultKind) * len(Boundary)))
    met = [fault.boundary for fault in plan if fault.kind is kind]
    assert sorted(met) == sorted(Boundary)
    assert len(plan) <= 300
    assert (kind in TARGETS) != kind.startswith("model_")


def test_the_same_seed_gives_the_same_order_and_another_one_another() -> None:
    first, same, other = (list(islice(endless_plan(seed), 50)) for seed in (3, 3, 4))
    assert first == same != other
