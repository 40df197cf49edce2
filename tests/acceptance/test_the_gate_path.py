"""From a card without a date to an answer that may be given: partial, raw search, sufficient."""

from datetime import date, datetime

from shared.domain.temporal import resolve
from tests.acceptance.memory import Memory, checked

THREAD = "orion"
ZONE = "Europe/Berlin"
QUESTION = "When did we decide to use pnpm in Orion?"
# Half past midnight in Berlin, still the day before in UTC: "yesterday" is 1 March there.
SAID_AT = "2026-03-02T00:30:00+01:00"


def tell(memory: Memory) -> None:
    """Say the decision without a date in a sealed block, and its date, in words, in the tail."""
    memory.begin(block_turn_size=2)
    memory.turn("one", "We decided to use pnpm in Orion.", thread_id=THREAD)
    memory.turn("two", "Mara works at the Harbour Institute.", thread_id=THREAD)
    memory.settled_jobs()
    memory.turn(
        "three",
        "That decision about pnpm in Orion was taken yesterday.",
        thread_id=THREAD,
        occurred_at=SAID_AT,
        timezone=ZONE,
    )


def test_a_when_question_is_answered_only_with_a_source_that_dates_it(memory: Memory) -> None:
    tell(memory)
    found = memory.search_events(QUESTION, thread_id=THREAD)
    event = found["items"][0]
    assert event["temporal"]["happened_start"] is None
    assert event["temporal"]["precision"] == "unknown"

    weak = memory.assess(
        found["batch_id"],
        "partial",
        [event["evidence_ref"]],
        strategy="search_raw_memory",
        missing="the day of the decision",
        question=QUESTION,
    )
    assert weak["verdict"] == "partial"
    assert "no_derivable_date" in [advisory["code"] for advisory in weak["advisories"]]
    refused = memory.http.post(
        f"/v1/batches/{found['batch_id']}/use",
        json={"evidence_refs": [event["evidence_ref"]], "receipt_id": "too-early"},
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "not_adopted")

    raw = memory.search_raw("pnpm decision Orion", thread_id=THREAD)
    hit = next(item for item in raw["items"] if "yesterday" in item["message"]["content"])
    assert hit["in_open_tail"] is True
    said_at = datetime.fromisoformat(hit["message"]["occurred_at"])
    [expression] = resolve(hit["message"]["content"], said_at, ZONE)
    assert expression.start == expression.end == date(2026, 3, 1)

    strong = memory.assess(
        raw["batch_id"],
        "sufficient",
        [hit["evidence_ref"]],
        strategy="answer",
        question=QUESTION,
    )
    assert strong["verdict"] == "sufficient"
    used = memory.use(
        raw["batch_id"],
        [hit["evidence_ref"]],
        "answer-dated",
        answer={"thread_id": THREAD, "turn_receipt_id": "four"},
    )
    assert used["evidence_refs"] == [hit["evidence_ref"]]
    assert used["events"] == [], "a message is valid evidence and reinforces nothing"
    assert used["use_receipt_id"].startswith("rcp_")


def test_a_use_without_an_assessment_is_refused_and_changes_nothing(memory: Memory) -> None:
    tell(memory)
    found = memory.search_events(QUESTION, thread_id=THREAD)
    event = found["items"][0]
    path = f"{memory.read}/events/{event['event_id']}"
    before = memory.get(path)

    refused = memory.http.post(
        f"/v1/batches/{found['batch_id']}/use",
        json={"evidence_refs": [event["evidence_ref"]], "receipt_id": "no-assessment"},
    )

    assert checked(refused, 409)["code"] == "not_assessed"
    assert memory.get(path) == before


def test_only_the_event_that_was_used_grows_stronger_and_once_a_receipt(memory: Memory) -> None:
    tell(memory)
    everything = memory.search_events("Orion pnpm Mara Harbour Institute", thread_id=THREAD)
    refs = {item["event_id"]: item["evidence_ref"] for item in everything["items"]}
    assert len(refs) >= 2
    chosen, *others = refs
    memory.assess(everything["batch_id"], "sufficient", list(refs.values()), strategy="answer")

    first = memory.use(everything["batch_id"], [refs[chosen]], "answer-one")
    again = memory.use(everything["batch_id"], [refs[chosen]], "answer-one")

    assert again == first | {"duplicate": True}
    counts = {
        event_id: memory.get(f"{memory.read}/events/{event_id}")["mention_count"]
        for event_id in refs
    }
    assert counts == {chosen: 2, **dict.fromkeys(others, 1)}
    closed = memory.http.post(
        f"/v1/batches/{everything['batch_id']}/use",
        json={"evidence_refs": [refs[others[0]]], "receipt_id": "answer-two"},
    )
    assert checked(closed, 409)["code"] == "batch_recorded"
