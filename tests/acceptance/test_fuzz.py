"""Requests made from the API's document: no 5xx, each answer as documented, tenants apart."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from deploy.openapi import openapi_document
from tests.acceptance.filled import SHARED, filled_memory
from tests.acceptance.fuzzing import CHOICES, Choice, Story, cases_of, document_of, operations_of
from tests.acceptance.memory import Memory
from tests.support.stack import RunningSystem

FEW, MANY = 2, 30
"""Requests an operation: when a change lands, and in the full run."""
WORDS = ("The Zanzibar ledger is with Ines.", "The Quimper barometer is with Oluf.")
SECRET = "sk-proj-" + "Q7" * 24
LISTS = ("events", "threads", "graph", "blocks?scope=namespace", "usage-audit")


def test_requests_made_from_the_document_are_answered_as_it_says(system: RunningSystem) -> None:
    told = story_of_requests(system, examples=FEW, is_repeatable=True)
    assert told.asked >= FEW * 60


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_thousands_of_requests_made_from_the_document_are_answered_as_it_says(
    system: RunningSystem,
) -> None:
    told = story_of_requests(system, examples=MANY, is_repeatable=False)
    assert told.asked >= 2_000


def story_of_requests(system: RunningSystem, *, examples: int, is_repeatable: bool) -> Story:
    """Ask every operation so often, in one story; then see that all is whole and silent."""
    memories = [Memory(system, system.new_tenant(name), SHARED) for name in ("one", "other")]
    for memory, words in zip(memories, WORDS, strict=True):
        filled_memory(memory)
        memory.turn("own", f"{words} The token is {SECRET}.", thread_id="own")
    own_keys = {
        key["key_id"]
        for memory in memories
        for key in memory.get("/v1/keys")["items"]
        if key["label"] != "to be revoked"
    }
    story = Story(
        system.url,
        (memories[0].tenant.admin_key, memories[1].tenant.admin_key),
        ("Zanzibar", "Quimper"),
        frozenset(own_keys),
    )
    for memory in memories:
        for path in ("/v1/keys", "/v1/jobs", *(f"{memory.read}/{name}" for name in LISTS)):
            story.learn(memory.http.get(path).text)

    problems = []
    for operation in operations_of(document_of(openapi_document())):
        problem = asked(story, operation, examples=examples, is_repeatable=is_repeatable)
        problems += [(operation.label, problem)] if problem else []

    assert problems == []
    assert {200, 201, 202, 404, 422} <= story.statuses.keys()
    assert_next_turn_is_remembered(memories[0])
    assert_logs_are_silent(system, [*story.keys, *story.words, "flowerpot", SECRET])
    return story


def asked(story: Story, operation: Any, *, examples: int, is_repeatable: bool) -> str:
    """Ask one operation so often; return what was wrong, shortened."""

    @settings(
        max_examples=examples,
        derandomize=is_repeatable,
        deadline=None,
        database=None,
        # What was asked before cannot be asked again: it has changed what there is.
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases_of(operation), CHOICES)
    def ask(case: Any, choice: Choice) -> None:
        story.ask(case, choice)

    try:
        ask()
    except (AssertionError, BaseExceptionGroup) as failure:
        inner = getattr(failure, "exceptions", (failure,))
        return "\n".join(f"{type(one).__name__}: {str(one)[:1500]}" for one in inner[:3])
    return ""


def assert_next_turn_is_remembered(memory: Memory) -> None:
    """What was thrown at it has not hurt what an honest client does next."""
    after = Memory(memory.system, memory.tenant, "project:after")
    receipt = secrets.token_hex(4)
    after.turn(receipt, "The lighthouse keeper is called Marit.")
    found = after.search_raw("lighthouse keeper")
    assert found["items"][0]["evidence_ref"].startswith("raw:msg_")


def assert_logs_are_silent(system: RunningSystem, planted: list[str]) -> None:
    """No log of any process holds a key or a word of what was said."""
    for name in system.children:
        text = system.log(name)
        assert [one for one in planted if one in text] == [], name
