"""Markers planted wherever a client can put text are nowhere after the erasure."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from shared.settings import Settings
from shared.store.database import owner_engine
from shared.store.model_calls import NewCall, record_call
from tests.integration.erasure.eraser import Eraser
from tests.integration.reprocess.memory import HOME, READ

SAID = ("Zorblaxia", "Quuxville")
BESIDE = (
    "rcpt-mark-41",
    "MarkName42",
    "MarkMeta43",
    "MarkTool44",
    "MarkResult45",
    "MarkToolText46",
    "MarkCall47",
    "MarkLabel48",
    "MarkTurnMeta49",
    "MarkAgent50",
)
JUDGED = ("MarkFit51", "MarkMissing52", "MarkQuestion53", "use-mark-54", "MarkAnswer55")
DECIDED = ("MarkReason56",)
ANSWERED = ("MarkReply57",)
EVERY = SAID + BESIDE + JUDGED + DECIDED + ANSWERED


def turn(**more: Any) -> dict[str, Any]:
    """A turn with a marker in every place that takes text."""
    return {
        "receipt_id": "rcpt-mark-41",
        "thread_id": "main",
        "occurred_at": "2026-02-01T10:00:00+01:00",
        "messages": [
            {
                "role": "user",
                "content": "Zorblaxia lives in Quuxville.",
                "name": "MarkName42",
                "metadata": {"k": "MarkMeta43"},
            },
            {
                "role": "assistant",
                "content": "Noted.",
                "tool_calls": [
                    {"name": "lookup", "arguments": {"q": "MarkTool44"}, "result": "MarkResult45"}
                ],
            },
            {"role": "tool", "content": "MarkToolText46", "tool_call_id": "MarkCall47"},
        ],
        "labels": {"case": "MarkLabel48"},
        "metadata": {"x": "MarkTurnMeta49"},
        "agent": {"id": "MarkAgent50"},
    } | more


def planted(memory: Eraser) -> str:
    """Post the turn, walk it to the graph, search, judge, use and curate it; return its batch."""
    stored = memory.client.post(f"{HOME}/turns", json=turn())
    assert stored.status_code == 201, stored.text
    memory.posted = 1
    memory.say("Ben lives in Rome", "Cleo lives in Lima", "Dan lives in Kyiv")
    memory.run()
    memory.reprocess("summarize", "extract")
    memory.run()
    post = memory.client.post
    found = post(f"{READ}/events/search", json={"query": "Zorblaxia in Quuxville"}).json()
    batch, ref = found["batch_id"], found["items"][0]["evidence_ref"]
    for verdict, strategy in (("partial", "search_raw_memory"), ("sufficient", "answer")):
        judged = post(
            f"/v1/batches/{batch}/assessment",
            json={
                "verdict": verdict,
                "evidence_refs": [ref],
                "fit": "MarkFit51",
                "missing": "MarkMissing52",
                "next_strategy": strategy,
                "question": "MarkQuestion53?",
            },
        )
        assert judged.status_code == 200, judged.text
    used = post(
        f"/v1/batches/{batch}/use",
        json={
            "evidence_refs": [ref],
            "receipt_id": "use-mark-54",
            "answer": {"thread_id": "main", "turn_receipt_id": "MarkAnswer55"},
        },
    )
    assert used.status_code in (200, 201), used.text
    event_id = ref.removeprefix("event:")
    path = f"{HOME}/curation/events/{event_id}"
    curated = memory.client.patch(path, json={"pinned": True, "reason": "MarkReason56"})
    assert curated.status_code == 200, curated.text
    for path in ("raw/search", "graph/search", "blocks/search"):
        assert post(f"{READ}/{path}", json={"query": "Quuxville"}).status_code == 200
    with memory.database.write(memory.tenant_id) as tx:
        call = NewCall(
            "job_x", 1, "project:again", "extract", "m", "1", "malformed", 1, 1, 1, "MarkReply57"
        )
        record_call(tx, call)
    return str(batch)


def places(settings: Settings, tenant_id: str, marker: str) -> set[str]:
    """Return the tables that hold a marker in any column of a row of the tenant."""
    engine = owner_engine(settings)
    with engine.connect() as connection:
        tables = connection.execute(
            text(
                "SELECT table_name FROM information_schema.columns "
                "WHERE table_schema = 'public' AND column_name = 'tenant_id'"
            )
        ).scalars()
        found = {
            table
            for table in tables
            if connection.execute(
                text(f"SELECT 1 FROM {table} AS r WHERE tenant_id = :t AND r::text ILIKE :m"),  # noqa: S608 - names of our own schema
                {"t": tenant_id, "m": f"%{marker}%"},
            ).first()
        }
    engine.dispose()
    return found


@pytest.mark.parametrize("selector", ["turn", "label", "thread", "namespace"])
def test_markers_are_in_no_column_of_any_table_and_in_no_log(
    empty_memory: Eraser,
    settings: Settings,
    selector: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    memory = empty_memory
    batch = planted(memory)
    planted_in = {marker: places(settings, memory.tenant_id, marker) for marker in EVERY}
    assert [marker for marker, where in planted_in.items() if not where] == []
    chosen = {
        "turn": memory.turn_ids()[0],
        "label": "case=MarkLabel48",
        "thread": "main",
        "namespace": "project:again",
    }[selector]

    erasure = memory.erase(**{selector: chosen})

    left = {marker: places(settings, memory.tenant_id, marker) for marker in EVERY}
    assert {marker: where for marker, where in left.items() if where} == {}
    logs = caplog.text + "".join(capfd.readouterr())
    assert [marker for marker in EVERY if marker in logs] == []
    assert memory.verify(erasure["erasure_id"], receipt_ids=["rcpt-mark-41"])["valid"]
    assert erasure["certificate"]["probe"]["hits"] == {"message": 0, "event": 0, "node": 0}
    assert memory.findings() == []

    again = memory.client.post(f"{HOME}/turns", json=turn(labels={"other": "content"}))
    assert (again.status_code, again.json()) == (201, {"duplicate": True, "erased": True})
    if selector != "namespace":
        used = memory.client.post(
            f"/v1/batches/{batch}/use", json={"evidence_refs": [], "receipt_id": "use-mark-54"}
        )
        assert (used.json()["duplicate"], used.json()["erased"]) == (True, True)
    memory.run()
    left = {marker: places(settings, memory.tenant_id, marker) for marker in EVERY}
    assert {marker: where for marker, where in left.items() if where} == {}
