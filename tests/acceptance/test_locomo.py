"""Conversations over months, loaded by the command line, derived to the end and found again."""

import json
from pathlib import Path

import pytest

from tests.acceptance.memory import FINAL, Json, Memory
from tests.support.databases import Tenant
from tests.support.stack import ROOT, RunningSystem

DATA = ROOT.parent / "shared" / "data" / "locomo-dev.json"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.exists(), reason="the labelled conversations are not here"),
]
# conversation and question, by their places in the file
QUESTIONS = ((0, 0), (1, 1), (2, 1))
DERIVED_S = 150.0


def test_every_turn_of_four_conversations_is_stored_derived_and_found(
    system: RunningSystem,
) -> None:
    samples = json.loads(DATA.read_text(encoding="utf-8"))
    tenant = system.new_tenant("locomo")

    loaded = load(system, tenant, DATA)

    assert loaded["problems"] == []
    memories = [Memory(system, tenant, sample["sample_id"]) for sample in samples]
    for memory, sample in zip(memories, samples, strict=True):
        assert stored_ids(system, memory) == said_ids(sample)
    settled = system.wait_until(lambda: all_over(memories), "every job is over", within_s=DERIVED_S)
    assert settled
    for memory in memories:
        statuses = set(memory.block_status("main").values())
        assert statuses <= {"ready", "failed"}
        assert memory.context("main")["pending"]["blocks"] == 0

    checked = system.command("verify", "--tenant", tenant.tenant_id)
    assert checked.returncode == 0, checked.stdout + checked.stderr

    for conversation, number in QUESTIONS:
        asked = samples[conversation]["qa"][number]
        items = memories[conversation].search_raw(asked["question"], limit=10)["items"]
        found = {item["metadata"]["dia_id"] for item in items}
        assert found & set(asked["evidence"]), f"question {number} of conversation {conversation}"

    again = load(system, tenant, DATA)
    assert (again["stored"], again["duplicates"]) == (0, loaded["stored"])


def load(system: RunningSystem, tenant: Tenant, file: Path) -> Json:
    """Load a file as a person does, sealing at each session's end; return the report."""
    words = ("turns", "load", str(file), "--seal", "--json")
    done = system.command(*words, key=tenant.admin_key)
    assert done.returncode == 0, done.stdout + done.stderr
    report: Json = json.loads(done.stdout)
    return report


def all_over(memories: list[Memory]) -> bool:
    jobs = [job for memory in memories for job in memory.jobs()]
    return bool(jobs) and all(job["state"] in FINAL for job in jobs)


def said_ids(sample: Json) -> list[str]:
    """The ids of every message of a conversation, in order."""
    conversation = sample["conversation"]
    numbers = sorted(
        int(name.removeprefix("session_"))
        for name, messages in conversation.items()
        if name.removeprefix("session_").isdecimal() and messages
    )
    return [said["dia_id"] for n in numbers for said in conversation[f"session_{n}"]]


def stored_ids(system: RunningSystem, memory: Memory) -> list[str]:
    """The ids of every stored message of the conversation, in order of its turns."""
    rows = system.sql(
        "SELECT metadata->>'dia_id' AS dia_id FROM messages WHERE tenant_id = %s"
        " AND namespace = %s ORDER BY turn_sequence, position",
        memory.tenant.tenant_id,
        memory.namespace,
    )
    return [row["dia_id"] for row in rows]
