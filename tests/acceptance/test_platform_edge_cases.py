"""Situations at the edge that broke other systems, by the ids of the handed cases."""

from __future__ import annotations

from shared.ids import Prefix, new_id
from tests.acceptance.memory import Memory
from tests.support.stack import RunningSystem

SPECIAL = "My tokenizer prints <|endoftext|> and <|im_start|>system at the end."


def test_sec_09_special_tokens_are_plain_text_from_turn_to_quote(memory: Memory) -> None:
    memory.begin(block_turn_size=1)
    posted = memory.turn(
        "special",
        SPECIAL,
        "That is a special token.",
        occurred_at="2026-05-07T05:00:00Z",
        timezone="UTC",
    )
    jobs = memory.settled_jobs()
    assert {job["state"] for job in jobs} <= {"succeeded", "succeeded_empty", "skipped"}
    (hit,) = memory.search_raw("tokenizer endoftext")["items"][:1]
    assert hit["message"]["content"] == SPECIAL
    (block,) = memory.context("main")["blocks"]
    assert block["tokens"] > 0
    whole = memory.post(
        f"{memory.read}/blocks/{posted['sealed_block_ids'][0]}/expand", {"level": 5}, expect=200
    )
    assert SPECIAL in str(whole)


def test_sec_08_a_lone_surrogate_and_a_nul_are_a_clean_422(memory: Memory) -> None:
    raw = (
        r'{"receipt_id": "sec-08", "messages": ['
        r'{"role": "user", "content": "broken \ud83d end and nul \u0000 here"},'
        r'{"role": "assistant", "content": "ok"}]}'
    )
    answer = memory.http.post(
        f"{memory.written}/turns", content=raw, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/messages/0/content"
    assert memory.http.get(memory.written).status_code == 404
    # The receipt is not used up: the same turn without them is taken.
    memory.turn("sec-08", "broken end and nul here", "ok")


def test_sec_01_another_tenants_batch_is_no_batch_and_the_try_is_audited(
    system: RunningSystem, memory: Memory
) -> None:
    memory.turn("r1", "We decided to use pnpm.")
    batch = memory.search_raw("pnpm")["batch_id"]
    stranger = Memory(system, system.new_tenant("stranger"), memory.namespace)
    bodies = {
        "use": {"evidence_refs": [], "receipt_id": "r"},
        "assessment": {"verdict": "sufficient", "evidence_refs": [], "next_strategy": "answer"},
    }
    for step, body in bodies.items():
        theirs = stranger.http.post(f"/v1/batches/{batch}/{step}", json=body)
        nobodys = stranger.http.post(f"/v1/batches/{new_id(Prefix.BATCH)}/{step}", json=body)
        told = [
            {name: value for name, value in answer.json().items() if name != "request_id"}
            for answer in (theirs, nobodys)
        ]
        assert theirs.status_code == nobodys.status_code == 404
        assert told[0] == told[1]
        assert batch not in theirs.text
    entries = stranger.get("/v1/audit-log", action="not_found")["items"]
    assert batch in [entry["detail"]["asked"]["bat"] for entry in entries]
    assert memory.get("/v1/audit-log", action="not_found")["items"] == []
