from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from shared.settings import Settings
from tests.integration.ingest.serving import served, turn
from tests.support.databases import settings_for

NOWHERE = "127.0.0.1:1"
HEADERS = {"Authorization": "Bearer sg_anything"}


@pytest.fixture
def cut_off() -> Iterator[httpx.Client]:
    """A service whose database cannot be reached."""
    settings = settings_for(f"postgresql://nobody@{NOWHERE}/nothing")
    with served(settings) as url, httpx.Client(base_url=url) as client:
        yield client


def test_without_the_database_requests_are_503_and_say_when_to_return(
    cut_off: httpx.Client,
) -> None:
    answer = cut_off.post("/v1/namespaces/n/turns", json=turn("r1"), headers=HEADERS)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert answer.headers["Retry-After"] == str(answer.json()["retry_after"])
    assert NOWHERE not in answer.text


def test_without_the_database_the_service_lives_and_is_not_ready(cut_off: httpx.Client) -> None:
    assert cut_off.get("/health/live").status_code == 200
    ready = cut_off.get("/health/ready")
    assert (ready.status_code, ready.json()["code"]) == (503, "not_ready")
    assert ready.headers["Content-Type"] == "application/problem+json"
    assert ready.json()["request_id"] == ready.headers["X-Request-Id"]


def test_without_the_database_readiness_still_tells_part_by_part(cut_off: httpx.Client) -> None:
    parts = cut_off.get("/health/ready").json()["parts"]
    assert parts["database"]["ok"] is False
    assert parts["migrations"]["found"] is None
    assert "unknown" in parts["migrations"]["detail"]
    assert isinstance(parts["broker"]["ok"], bool)
    assert parts["jobs"]["live"] is None


def test_without_the_broker_turns_are_taken_all_the_same(
    settings: Settings, api: httpx.Client, tenant: object
) -> None:
    away = settings.model_copy(
        update={"broker_url": settings.broker_url.__class__(f"redis://{NOWHERE}/0")}
    )
    with served(away) as url, httpx.Client(base_url=url, headers=api.headers) as client:
        ready = client.get("/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert client.post("/v1/namespaces/n/turns", json=turn("r1")).status_code == 201
        assert client.post("/v1/namespaces/n/threads/unthreaded/seal").status_code == 200


def test_a_body_without_a_length_is_bounded_too(api: httpx.Client) -> None:
    chunks = (b"x" * 1_000_000 for _ in range(5))
    answer = api.post("/v1/namespaces/n/turns", content=chunks)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
