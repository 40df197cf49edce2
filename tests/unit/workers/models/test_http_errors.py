from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.domain.jobs import FailureClass
from workers.models.http_errors import error_of

NOW = datetime(2026, 6, 30, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "body", "failure_class", "code"),
    [
        (401, {"error": {"code": "invalid_api_key"}}, FailureClass.PERMANENT, "http_401"),
        (301, {}, FailureClass.PERMANENT, "http_301"),
        (402, {}, FailureClass.TRANSIENT, "quota"),
        (403, {"error": {"message": "insufficient credits"}}, FailureClass.TRANSIENT, "quota"),
        (403, {"error": {"message": "country"}}, FailureClass.PERMANENT, "http_403"),
        (400, {"error": {"code": "content_policy_violation"}}, FailureClass.REFUSED, "refused"),
        (413, {"error": "input too long"}, FailureClass.TRUNCATED, "input_too_long"),
        (429, {"error": {"type": "insufficient_quota"}}, FailureClass.TRANSIENT, "quota"),
        (
            429,
            {"error": {"code": "rate_limit_exceeded", "message": "add a payment: /billing"}},
            FailureClass.TRANSIENT,
            "http_429",
        ),
        (408, {}, FailureClass.TRANSIENT, "http_408"),
        (529, {}, FailureClass.TRANSIENT, "http_529"),
        (200, {"error": {"message": "slow down", "code": 429}}, FailureClass.TRANSIENT, "http_429"),
        (200, {"error": "something"}, FailureClass.TRANSIENT, "http_502"),
        (200, {"error": {"code": "401"}}, FailureClass.PERMANENT, "http_401"),
    ],
)
def test_refusals_have_their_class_and_code(
    status: int, body: Any, failure_class: FailureClass, code: str
) -> None:
    error = error_of(status, {}, body, now=NOW)
    assert (error.failure_class, error.code) == (failure_class, code)


def test_limits_without_a_word_about_time_wait_a_little_and_quotas_longer() -> None:
    assert error_of(429, {}, {}, now=NOW).retry_after_s == 10.0
    assert error_of(402, {}, {}, now=NOW).retry_after_s == 900.0
    assert error_of(503, {}, {}, now=NOW).retry_after_s is None
    assert error_of(503, {"retry-after": "4"}, {}, now=NOW).retry_after_s == 4.0


@pytest.mark.parametrize("field", ["type", "code", "param", "message"])
def test_no_detail_repeats_what_may_be_a_key(field: str) -> None:
    for secret in ("sk-proj-ABCdef123456", "AKIAIOSFODNN7EXAMPLE", "ghp_x1Y2z3"):
        assert secret not in error_of(401, {}, {"error": {field: secret}}, now=NOW).detail
