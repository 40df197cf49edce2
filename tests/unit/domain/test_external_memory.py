import json
from datetime import UTC, date, datetime

import pytest

from shared.domain.events import Criticality, fingerprint
from shared.domain.external_memory import Candidate, CandidateTime, ClaimedPrecision
from shared.domain.external_memory_decide import (
    ImportAction,
    normalise_decision,
    settle_repeated,
    undecided,
)
from shared.domain.external_memory_parse import (
    UnreadableImport,
    parse_external_memory,
    parse_recovered,
)
from shared.domain.external_memory_preview import draft_of, preview_time
from shared.domain.model_json import MalformedReply, read_object
from shared.domain.turns import Message, Role

TOP_K = ("evt_a", "evt_b", "evt_c")


def export(*candidates: object, **more: object) -> str:
    head = {
        "schemaVersion": "stratagate.external-memory.v2",
        "sourceType": "external_ai_memory_export",
    }
    return json.dumps({**head, "candidates": list(candidates), **more}, ensure_ascii=False)


def test_imp_01_prose_and_fence_are_passed_over_and_unknown_dates_dropped() -> None:
    temporal = {
        "originalText": "some time next spring",
        "happenedStart": "2027-03-01",
        "precision": "unknown",
        "basis": "unknown",
    }
    text = export({"title": "Loft", "summary": "Considering a loft.", "temporal": temporal})
    (candidate,) = parse_external_memory(f"Here you go:\n```json\n{text}\n```").candidates
    assert candidate.temporal is not None
    assert candidate.temporal.happened_start is None
    assert candidate.temporal.original_text == "some time next spring"


def test_imp_02_exact_repetitions_are_settled_without_a_model() -> None:
    text = export(
        {"title": "Plays the cello", "summary": "Plays the cello on Sundays."},
        {"title": "Plays the  cello ", "summary": "plays the cello on sundays."},
        {"title": "New", "summary": "New fact"},
        {"title": "new", "summary": "NEW  fact"},
    )
    candidates = parse_external_memory(text).candidates
    stored = {fingerprint("Plays the cello", "Plays the cello on Sundays."): "evt_3"}
    first, second, fresh, again = settle_repeated(candidates, stored)
    for one in (first, second):
        assert one is not None
        assert one.action is ImportAction.IGNORE
        assert one.existing_event_ids == ("evt_3",)
        assert one.confidence == 1
        assert not one.requires_confirmation
    assert fresh is None
    assert again is not None
    assert again.existing_event_ids == ()


def test_importing_the_same_file_twice_adds_nothing() -> None:
    candidates = parse_external_memory(export({"title": "T", "summary": "S"})).candidates
    stored = {one.fingerprint: f"evt_{n}" for n, one in enumerate(candidates)}
    assert None not in settle_repeated(candidates, stored)


def test_imp_06_a_malformed_text_may_be_recovered_and_then_needs_a_person() -> None:
    text = "memories: - likes hiking - {title: 'Broken', summary: 'quote never closed"
    with pytest.raises(UnreadableImport) as caught:
        parse_external_memory(text)
    assert caught.value.is_recoverable
    recovered = parse_recovered(
        {"candidates": [{"title": "Likes hiking", "summary": "Likes hiking."}]}
    )
    assert recovered.is_recovered
    decision = normalise_decision(
        {"action": "ADD", "confidence": 1}, matches=(), is_recovered=recovered.is_recovered
    )
    assert decision.requires_confirmation


@pytest.mark.parametrize("wrap", [lambda items: {"results": items}, lambda items: items])
def test_imp_07_a_mem0_list_becomes_candidates_with_provenance(wrap) -> None:  # type: ignore[no-untyped-def] # two spellings of one file
    items = [
        {
            "id": "3f0",
            "memory": "Prefers stone tiles",
            "created_at": "2025-06-01T00:00:00-07:00",
            "metadata": {"topic": "kitchen"},
        },
        {"id": "3f1", "memory": "", "created_at": None},
    ]
    parsed = parse_external_memory(json.dumps(wrap(items)))
    (candidate,) = parsed.candidates
    assert candidate.provenance == "external:mem0:3f0"
    assert candidate.summary == "Prefers stone tiles"
    assert candidate.tags == ("kitchen",)
    assert [(one.index, one.code) for one in parsed.skipped] == [(1, "empty")]
    time = preview_time(candidate.temporal)
    assert time.mentioned_at == datetime(2025, 6, 1, 7, tzinfo=UTC)
    assert time.zone == "-07:00"
    assert time.happened_start is None
    assert time.precision == "unknown"


def test_a_foreign_format_is_refused_and_not_recovered() -> None:
    with pytest.raises(UnreadableImport, match=r"v9") as caught:
        parse_external_memory(export(schemaVersion="stratagate.external-memory.v9"))
    assert not caught.value.is_recoverable


@pytest.mark.parametrize(
    "text",
    ['{"candidates":[{"title":"A","title":"B","summary":"S"}]}', '{"candidates":[NaN]}', "[]"],
)
def test_duplicate_keys_and_nan_are_malformed(text: str) -> None:
    with pytest.raises(UnreadableImport):
        parse_external_memory(text)


def test_every_item_that_is_not_imported_is_told() -> None:
    good = [{"title": f"T{n}", "summary": "S"} for n in range(202)]
    parsed = parse_external_memory(export(5, {"title": "T"}, *good))
    assert len(parsed.candidates) == 200
    assert [one.code for one in parsed.skipped] == [
        "not_an_object",
        "incomplete",
        "over_limit",
        "over_limit",
    ]


def test_hostile_ids_pins_and_counts_are_not_read() -> None:
    hostile = {
        "title": "T",
        "summary": "S",
        "id": "evt_x",
        "pinned": True,
        "mentionCount": 999,
        "sourceMessageIds": ["msg_x"],
        "provenance": "external:mem0:forged",
    }
    (candidate,) = parse_external_memory(export(hostile)).candidates
    assert candidate == Candidate(title="T", summary="S")


def test_dup_06_a_position_is_no_id_and_a_person_decides() -> None:
    decision = normalise_decision(
        {"action": "MERGE", "existingEventIds": ["3"], "reason": "same", "confidence": 0.95},
        matches=TOP_K,
    )
    assert decision.action is ImportAction.IGNORE
    assert decision.requires_confirmation
    assert decision.existing_event_ids == ()
    assert decision.rejected_event_ids == ("3",)
    assert decision.proposed == "MERGE"


def test_one_illegal_target_among_legal_ones_waits_for_a_person() -> None:
    decision = normalise_decision(
        {"action": "merge", "existing_event_ids": ["evt_a", "evt_z"], "confidence": 0.99},
        matches=TOP_K,
    )
    assert decision.action is ImportAction.MERGE
    assert decision.existing_event_ids == ("evt_a",)
    assert decision.requires_confirmation


def test_json_06_a_malformed_decision_supersedes_nothing() -> None:
    raw = '{"action":"ADD","action":"SUPERSEDE","existingEventIds":["evt_a"],"confidence":NaN}'
    with pytest.raises(MalformedReply) as caught:
        read_object(raw)
    decision = undecided(caught.value.detail)
    assert decision.action is ImportAction.IGNORE
    assert decision.requires_confirmation


@pytest.mark.parametrize(
    ("confidence", "kept", "waits"),
    [(0.85, 0.85, False), (0.84, 0.84, True), (2, 1, False), (-1, 0, True), ("0.9", 0.5, True)],
)
def test_imp_04_unsure_decisions_wait(confidence: object, kept: float, waits: bool) -> None:
    decision = normalise_decision(
        {"action": "SUPERSEDE", "existingEventIds": ["evt_a"], "confidence": confidence},
        matches=TOP_K,
    )
    assert decision.confidence == kept
    assert decision.requires_confirmation is waits


@pytest.mark.parametrize(
    ("text", "start", "end", "precision"),
    [
        ("2026", date(2026, 1, 1), date(2026, 12, 31), "year"),
        ("2028-02", date(2028, 2, 1), date(2028, 2, 29), "month"),
        ("2026-08-20", date(2026, 8, 20), date(2026, 8, 20), "day"),
        ("2026-08-20T10:00", date(2026, 8, 20), date(2026, 8, 20), "day"),
    ],
)
def test_real_dates_of_a_candidate_are_kept(
    text: str, start: date, end: date, precision: str
) -> None:
    time = preview_time(CandidateTime(happened_start=text))
    assert (time.happened_start, time.happened_end) == (start, end)
    assert (time.precision, time.basis) == (precision, "explicit")


def test_an_instant_keeps_its_moment() -> None:
    time = preview_time(CandidateTime(happened_start="2026-08-20T10:00:00+08:00"))
    assert time.happened_start == datetime(2026, 8, 20, 2, tzinfo=UTC)
    assert time.precision == "instant"


@pytest.mark.parametrize("text", ["soon-ish", "2026-02-30", "20260820", "2026-13", "0000"])
def test_what_is_no_real_date_moves_into_the_original_words(text: str) -> None:
    claimed = CandidateTime(
        happened_start=text, original_text="back then", precision=ClaimedPrecision.DAY
    )
    time = preview_time(claimed)
    assert time.happened_start is None
    assert time.happened_end is None
    assert time.precision == "unknown"
    assert time.original_text == f"back then; {text}"


def test_nothing_is_resolved_against_the_import() -> None:
    time = preview_time(CandidateTime(happened_start="yesterday"))
    assert time.mentioned_at is None
    assert time.happened_start is None
    assert preview_time(None).mentioned_at is None


def test_an_inverted_range_loses_its_end() -> None:
    time = preview_time(CandidateTime(happened_start="2026-05-10", happened_end="2026-05-01"))
    assert time.happened_start == date(2026, 5, 10)
    assert time.happened_end == date(2026, 5, 10)
    assert time.original_text == "2026-05-01"


def test_a_draft_cites_the_imports_text_and_keeps_only_quotes_in_it() -> None:
    text = export(
        {
            "title": "Likes tea",
            "summary": "Likes tea.",
            "category": "preference",
            "quotes": ['I said "tea"'],
            "temporal": {"eventType": "计划", "participants": ["Ann"]},
        }
    )
    (candidate,) = parse_external_memory(text).candidates
    draft = draft_of(candidate, Message(id="msg_1", role=Role.USER, content=text))
    assert draft.source_message_ids == ("msg_1",)
    assert [quote.text for quote in draft.quotes] == ['I said "tea"']
    assert draft.criticality is Criticality.PREFERENCE
    assert draft.event_type.value == "plan"
    assert draft.participants == ("Ann",)
    invented = draft_of(candidate, Message(id="msg_1", role=Role.USER, content="Likes tea."))
    assert invented.quotes == ()
