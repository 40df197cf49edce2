"""A run passes only when it was judged, every promise holds, and its faults met work."""

from pathlib import Path

import pytest

from deploy.chaos.plan import Boundary, Fault, FaultKind
from deploy.chaos.provider import Provider
from deploy.chaos.report import Injected, Report, Verdict
from deploy.chaos.run import Chaos

HELD = Verdict("turns_kept", "turns are kept", ())
BROKEN = Verdict("effects_once", "nothing is doubled", ("events of one block: blk_1",))
FAULT = Fault(FaultKind.API_KILLED, Boundary.RUNG)


def test_a_run_that_was_never_judged_did_not_pass() -> None:
    assert not Report(1).is_passed


def test_one_broken_promise_fails_the_run_and_names_what_broke_it() -> None:
    report = Report(1, verdicts=[HELD, BROKEN], is_whole=True)
    assert not report.is_passed
    assert not report.as_json()["passed"]
    assert "effects_once: events of one block: blk_1" in report.as_markdown()
    assert Report(1, verdicts=[HELD], is_whole=True).is_passed
    assert not Report(1, verdicts=[HELD]).is_passed


@pytest.mark.parametrize(("on_time", "holds"), [(0, False), (1, False), (2, True), (4, True)])
def test_faults_that_met_an_idle_stack_prove_nothing(
    tmp_path: Path, on_time: int, holds: bool
) -> None:
    chaos = Chaos(tmp_path, plan=(), provider=Provider("http://127.0.0.1:9/v1"), seed=1)
    chaos.report.injected = [Injected(FAULT, number < on_time, 0.0) for number in range(4)]
    chaos._judge_the_faults()
    assert [one.holds for one in chaos.report.verdicts] == [holds]
    assert chaos.report.numbers["faults_on_time"] == on_time


def test_the_table_tells_faults_on_time_from_all() -> None:
    injected = [Injected(FAULT, True, 0.0), Injected(FAULT, False, 1.0)]
    assert "| api_killed |  |  | 1/2 |" in Report(1, injected=injected).as_markdown()
