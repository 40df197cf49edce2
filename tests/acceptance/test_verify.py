"""`stratagate verify` is silent about a healthy memory and names what breaks a promise."""

import json

from tests.acceptance.memory import Json, Memory


def findings(memory: Memory, *, expect: int) -> list[Json]:
    done = memory.system.command("verify", "--tenant", memory.tenant.tenant_id, "--json")
    assert done.returncode == expect, done.stdout + done.stderr
    found: list[Json] = json.loads(done.stdout)
    return found


def test_a_derived_memory_is_clean_whatever_was_said(memory: Memory) -> None:
    memory.begin(block_turn_size=2)
    memory.turn("words", "We decided to use pnpm in Orion.", ";)")
    memory.turn("call", "Which tests fail?", "", thread_id="main")
    memory.settled_jobs()

    assert findings(memory, expect=0) == []


def test_a_message_that_no_search_can_find_is_named(memory: Memory) -> None:
    posted = memory.turn("lost", "The spare key is under the blue flowerpot.", ";)")
    [lost, *_] = memory.turn_receipt(posted["turn_id"])["stored"]["message_ids"]
    memory.system.sql("DELETE FROM search_documents WHERE document_id = %s RETURNING 1", lost)

    [found] = findings(memory, expect=1)

    assert (found["check"], found["subject"]) == ("message_is_findable", lost)
