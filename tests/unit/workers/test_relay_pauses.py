"""How long the relay rests: little after work, longer the longer nothing came."""

from __future__ import annotations

import pytest

from workers.relay import Pass, Pauses

NOTHING = Pass(rung=0, failed=0)
SOME = Pass(rung=3, failed=0)
BROKER_AWAY = Pass(rung=0, failed=3)


def test_a_job_that_comes_soon_after_another_waits_little() -> None:
    pauses = Pauses(0.05, 1.0)
    assert pauses.after(SOME) == 0.05
    waited = 0.0
    while waited < 2.0:
        pause = pauses.after(NOTHING)
        assert pause <= max(0.05, 0.1 * (waited + pause))
        waited += pause


def test_a_system_at_rest_is_asked_once_a_second() -> None:
    pauses = Pauses(0.05, 1.0)
    rested = [pauses.after(NOTHING) for _ in range(100)]
    assert rested[-1] == 1.0
    assert sum(pause < 1.0 for pause in rested) < 50


def test_a_pass_that_rang_ends_the_rest() -> None:
    pauses = Pauses(0.05, 1.0)
    for _ in range(100):
        pauses.after(NOTHING)
    assert [pauses.after(SOME), pauses.after(NOTHING)] == [0.05, 0.05]


def test_a_broker_that_is_away_is_asked_less_and_less() -> None:
    pauses = Pauses(0.05, 1.0)
    rested = [pauses.after(BROKER_AWAY) for _ in range(7)]
    assert rested == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0])
