"""The acceptance walk against a system that runs elsewhere: the compose file's, from outside."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from typing import cast

import pytest

from tests.acceptance.memory import Memory
from tests.acceptance.test_walk import (
    test_a_turn_walks_from_its_post_to_the_receipt_of_its_use,
    test_replays_get_the_first_answer_again_and_change_nothing,
    test_searching_changes_no_weight,
)
from tests.support.databases import Tenant
from tests.support.outside import API_VARIABLE, KEY_VARIABLE, OutsideSystem, outside_system
from tests.support.stack import RunningSystem

__all__ = [
    "test_a_turn_walks_from_its_post_to_the_receipt_of_its_use",
    "test_replays_get_the_first_answer_again_and_change_nothing",
    "test_searching_changes_no_weight",
]
pytestmark = [
    pytest.mark.skipif(
        API_VARIABLE not in os.environ,
        reason=f"{API_VARIABLE} names no system: see docs/howto/check-containers.md",
    ),
    pytest.mark.timeout(600),
]


@pytest.fixture
def outside() -> Iterator[OutsideSystem]:
    found = outside_system()
    assert found is not None
    with found:
        yield found


@pytest.fixture
def memory(outside: OutsideSystem) -> Memory:
    """A namespace of the test's own, with the key that the environment holds."""
    tenant = Tenant("", os.environ[KEY_VARIABLE])
    # The walk asks of a system only what an outside one can do as well.
    system = cast("RunningSystem", outside)
    return Memory(system, tenant, f"project:outside-{secrets.token_hex(4)}")


def test_both_services_are_ready_with_the_same_release_and_schema(outside: OutsideSystem) -> None:
    client = outside.client(os.environ[KEY_VARIABLE])
    ready = client.get("/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    assert client.get("/version").json()["schema"] == ready.json()["parts"]["migrations"]["found"]


def test_a_key_that_is_none_is_refused_by_both_services(outside: OutsideSystem) -> None:
    client = outside.client("sg_none")
    assert client.get("/v1/namespaces").status_code == 401
    assert client.get("/v1/retrieval/project:x/events").status_code == 401
