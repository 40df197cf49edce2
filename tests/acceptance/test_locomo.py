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
QUESTIONS: dict[int, tuple[int, ...]] = {0: (0, 1, 4), 1: (1,), 2: (1,), 3: (9,)}
"""Questions of each conversation whose evidence must be found, by their places in the file."""
DERIVED_S = 240.0


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param((0,), id="one conversation"),
        pytest.param((0, 1, 2, 3), id="all four", marks=pytest.mark.full),
    ],
)
def test_every_turn_of_long_conversations_is_stored_derived_and_found(
    system: RunningSystem, tenant_here: Tenant, tmp_path: Path, chosen: tuple[int, ...]
) -> None:
    everything = json.loads(DATA.read_text(encoding="utf-8"))
    samples = {number: everything[number] for number in chosen}
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(list(samples.values())), encoding="utf-8")

    loaded = load(system, tenant_here, file)

    memories = {
        n: Memory(system, tenant_here, sample["sample_id"]) for n, sample in samples.items()
    }
    assert loaded["problems"] == []
    for number, memory in memories.items():
        assert stored_ids(system, memory) == said_ids(samples[number])
    # Asked rarely and in the database, so that the watching does not slow what it watches.
    system.wait_until(
        lambda: live_jobs(system, tenant_here) == 0,
        "every job is over",
        within_s=DERIVED_S,
        poll_s=0.5,
    )
    standing = [status for m in memories.values() for status in m.block_status("main").values()]
    assert standing == ["ready"] * loaded["sealed_blocks"]
    verified = system.command("verify", "--tenant", tenant_here.tenant_id)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    for number, memory in memories.items():
        for place in QUESTIONS[number]:
            asked = samples[number]["qa"][place]
            items = memory.search_raw(asked["question"], limit=10)["items"]
            found = {item["metadata"]["dia_id"] for item in items}
            assert found & set(asked["evidence"]), f"question {place} of conversation {number}"

    again = load(system, tenant_here, file)
    assert (again["stored"], again["duplicates"]) == (0, loaded["stored"])
    assert again["sealed_blocks"] == 0


def load(system: RunningSystem, tenant: Tenant, file: Path) -> Json:
    """Load a file as a person does, sealing at each session's end; return the report."""
    words = ("turns", "load", str(file), "--seal", "--json")
    done = system.command(*words, key=tenant.admin_key)
    assert done.returncode == 0, done.stdout + done.stderr
    report: Json = json.loads(done.stdout)
    return report


def live_jobs(system: RunningSystem, tenant: Tenant) -> int:
    [row] = system.sql(
        "SELECT count(*) AS n FROM jobs WHERE tenant_id = %s AND NOT state = ANY(%s)",
        tenant.tenant_id,
        sorted(FINAL),
    )
    return int(row["n"])


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
