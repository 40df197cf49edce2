from __future__ import annotations

import pytest

from workers.models.breaker import Breaker
from workers.models.port import ModelError


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _broken(time: Time) -> Breaker:
    breaker = Breaker(limit=3, pause_s=30.0, monotonic=time)
    for _ in range(3):
        breaker.check()
        breaker.failed()
    return breaker


def test_after_several_failures_calls_wait_and_keep_their_attempts() -> None:
    time = Time()
    breaker = _broken(time)
    time.now += 10
    with pytest.raises(ModelError) as raised:
        breaker.check()
    assert (raised.value.code, raised.value.retry_after_s) == ("breaker_open", 20.0)


def test_after_the_pause_one_call_is_let_through_to_see() -> None:
    time = Time()
    breaker = _broken(time)
    time.now += 31
    breaker.check()
    with pytest.raises(ModelError):
        breaker.check()


def test_a_probe_that_tells_nothing_lets_another_one_through() -> None:
    time = Time()
    breaker = _broken(time)
    time.now += 31
    breaker.check()
    breaker.released()
    breaker.check()


def test_a_failed_probe_opens_the_circuit_anew() -> None:
    time = Time()
    breaker = _broken(time)
    time.now += 31
    breaker.check()
    breaker.failed()
    time.now += 29
    with pytest.raises(ModelError) as raised:
        breaker.check()
    assert (raised.value.retry_after_s, raised.value.is_sent) == (1.0, False)


def test_one_success_closes_the_circuit() -> None:
    time = Time()
    breaker = _broken(time)
    time.now += 31
    breaker.check()
    breaker.succeeded()
    breaker.check()
    breaker.check()
