from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from workers.models.waits import LONGEST_WAIT_S, told_wait_s

NOW = datetime(2026, 6, 30, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.1),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Tue, 30 Jun 2026 18:02:00 GMT"}, 120.0),
        # The provider's clock is an hour ahead of this one: what counts is the difference.
        (
            {
                "retry-after": "Tue, 30 Jun 2026 19:02:00 GMT",
                "date": "Tue, 30 Jun 2026 19:00:00 GMT",
            },
            120.0,
        ),
        ({"retry-after": "Tue, 30 Jun 2026 17:00:00 GMT"}, 0.1),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.1),
        ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-requests": "2s", "x-ratelimit-reset-tokens": "9s"}, 9.0),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "2s",
                "x-ratelimit-remaining-tokens": "77",
                "x-ratelimit-reset-tokens": "9m",
            },
            2.0,
        ),
        ({"x-ratelimit-reset": str(int(NOW.timestamp()) + 45)}, 45.0),
        ({"x-ratelimit-reset": str(int(NOW.timestamp() + 45) * 1000)}, 45.0),
        ({"retry-after": "999999999"}, LONGEST_WAIT_S),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-5"}, None),
        ({"x-ratelimit-reset-tokens": "1.2.3s"}, None),
        ({}, None),
    ],
)
def test_waits_are_read_from_the_headers_that_providers_send(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert told_wait_s(headers, {}, now=NOW) == seconds


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"error": {"resets_at": "2026-07-01T00:00:00Z"}}, 21_600.0),
        ({"resets_at": "2026-06-30T20:00:00+02:00"}, 0.1),
        ({"error": {"resets_at": int(NOW.timestamp()) + 60}}, 60.0),
        ({"error": {"resets_in_seconds": 90}}, 90.0),
        ({"error": {"resets_at": True}}, None),
        ({"error": {"resets_at": "tomorrow"}}, None),
        ({"error": "resets_at"}, None),
    ],
)
def test_a_reset_in_the_body_is_an_instant_or_a_number_of_seconds(
    body: dict[str, Any], seconds: float | None
) -> None:
    assert told_wait_s({}, body, now=NOW) == seconds


def test_the_body_knows_better_than_a_header() -> None:
    body = {"error": {"resets_at": "2026-06-30T18:10:00Z"}}
    assert told_wait_s({"retry-after": "1"}, body, now=NOW) == 600.0
