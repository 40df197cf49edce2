from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.events import Criticality, EventType, Quote, Scope
from shared.domain.extraction import (
    ExtractionContext,
    NoValidEvent,
    validate_extraction,
)
from shared.domain.model_json import MalformedReply, read_object
from shared.domain.turns import Message, Role

MAY_19 = date(2024, 5, 19)
SAID_AT = datetime(2026, 3, 4, 8, tzinfo=UTC)
KEYS = ("shouldExtract", "events")


def said(id_: str, text: str, role: Role = Role.USER) -> Message:
    return Message(id=id_, role=role, content=text, occurred_at=SAID_AT, zone="Asia/Shanghai")


def context(*messages: Message, offered: frozenset[str] = frozenset()) -> ExtractionContext:
    return ExtractionContext(messages=messages, offered_event_ids=offered)


BEES = context(said("m1u", "I keep bees."), said("m1a", "Lovely!", Role.ASSISTANT))


def event(**fields: object) -> dict[str, object]:
    base = {
        "title": "Keeps bees",
        "summary": "The user keeps bees.",
        "sourceMessageIds": ["m1u"],
        "quotes": ["I keep bees"],
    }
    return {**base, **fields}


def reply(*events: object, **fields: object) -> dict[str, object]:
    return {"shouldExtract": True, "reason": "durable", "events": list(events), **fields}


def test_lost_04_an_item_without_a_title_is_rejected_beside_the_accepted_one() -> None:
    raw = (
        '{"shouldExtract": true, "reason": "two decisions", "events": ['
        '{"summary": "Lab notebooks move to plain text files.", "sourceMessageIds": ["m1u"], '
        '"quotes": ["plain text files"]}, '
        '{"title": "Backup at noon", "summary": "Backups run at noon every day.", '
        '"sourceMessageIds": ["m1u"], "quotes": ["backups at noon"]}]}'
    )
    block = context(said("m1u", "Use plain text files for notebooks, and backups at noon."))
    extraction = validate_extraction(read_object(raw, required_keys=KEYS), block)
    assert [one.title for one in extraction.events] == ["Backup at noon"]
    (refused,) = extraction.refused
    assert (refused.index, refused.code) == (0, "missing_field")
    assert "title" in refused.detail


def test_lost_05_an_empty_object_is_malformed_and_not_a_valid_empty() -> None:
    with pytest.raises(MalformedReply, match="shouldExtract"):
        validate_extraction({}, BEES)


@pytest.mark.parametrize("value", [None, "yes", 1, [], "maybe"])
def test_an_unusable_should_extract_is_malformed(value: object) -> None:
    with pytest.raises(MalformedReply, match="shouldExtract"):
        validate_extraction({"shouldExtract": value, "events": [event()]}, BEES)


@pytest.mark.parametrize("value", [False, "false", "FALSE"])
def test_an_explicit_no_is_a_valid_empty_and_its_events_are_ignored(value: object) -> None:
    extraction = validate_extraction(reply(event(), shouldExtract=value), BEES)
    assert not extraction.should_extract
    assert extraction.events == ()
    assert extraction.reason == "durable"


@pytest.mark.parametrize("events", [[], None, [5], ["text"], [{}]])
def test_a_yes_without_a_valid_event_is_malformed(events: object) -> None:
    with pytest.raises(NoValidEvent):
        validate_extraction({"shouldExtract": True, "events": events}, BEES)


def test_lang_05_an_event_leaked_from_an_example_is_refused_with_its_reason() -> None:
    leaked = event(
        title="Example: prefers window seats",
        summary="The user prefers window seats on trains.",
        quotes=["I always take the window seat"],
    )
    with pytest.raises(NoValidEvent) as caught:
        validate_extraction(reply(leaked), context(said("m1u", "今天把自行车链条换了。")))
    codes = [one.code for one in caught.value.rejections]
    assert codes == ["quote_not_verbatim", "ungrounded"]
    assert any("ungrounded" in problem for problem in caught.value.problems)


def test_dup_04_neither_system_text_nor_an_assistants_guess_is_a_fact_of_the_user() -> None:
    block = context(
        said("s", "You are Quill, a cheerful assistant who loves haiku.", Role.SYSTEM),
        said("u", "Convert 3 miles to km."),
        said(
            "a", "About 4.83 km. As Quill I adore haiku, and I suppose you do too.", Role.ASSISTANT
        ),
    )
    from_system = event(
        title="Loves haiku",
        summary="Quill loves haiku.",
        sourceMessageIds=["s"],
        quotes=["loves haiku"],
    )
    guess = event(
        title="Loves haiku",
        summary="The user adores haiku.",
        sourceMessageIds=["a"],
        quotes=["I adore haiku, and I suppose you do too"],
    )
    with pytest.raises(NoValidEvent) as caught:
        validate_extraction(reply(from_system, guess), block)
    refused = [one.code for one in caught.value.rejections if one.refused]
    assert refused == ["no_legal_source", "unsupported_claim"]


def test_an_event_keeps_its_legal_sources_and_tells_the_foreign_ones() -> None:
    extraction = validate_extraction(reply(event(sourceMessageIds=["m1u", "m9"])), BEES)
    assert extraction.events[0].source_message_ids == ("m1u",)
    (lost,) = extraction.rejections
    assert (lost.code, lost.refused) == ("foreign_source", False)


def test_there_is_no_fall_back_to_all_messages() -> None:
    with pytest.raises(NoValidEvent) as caught:
        validate_extraction(reply(event(sourceMessageIds=["m9"])), BEES)
    assert caught.value.rejections[-1].code == "no_legal_source"


def test_json_08_loose_types_are_coerced_and_noted() -> None:
    loose = {
        "shouldExtract": "true",
        "reason": None,
        "events": {
            "title": "Keeps bees",
            "summary": "Keeps bees.",
            "sourceMessageIds": "m1u",
            "quotes": "I keep bees",
            "scope": "global",
            "criticality": "IDENTITY",
        },
    }
    extraction = validate_extraction(loose, BEES)
    (draft,) = extraction.events
    assert draft.quotes == (Quote("m1u", "I keep bees"),)
    assert draft.scope is Scope.USER
    assert draft.criticality is Criticality.IDENTITY
    assert any("global" in note for note in extraction.notes)


def test_snake_case_is_read_as_well() -> None:
    snake = {
        "should_extract": True,
        "events": [
            {
                "title": "Keeps bees",
                "summary": "Keeps bees.",
                "source_message_ids": ["m1u"],
                "event_type": "decision",
                "quotes": [{"message_id": "m1u", "text": "I keep bees"}],
            }
        ],
    }
    (draft,) = validate_extraction(snake, BEES).events
    assert draft.event_type is EventType.DECISION
    assert draft.quotes == (Quote("m1u", "I keep bees"),)


@pytest.mark.parametrize(
    "odd",
    [
        {"title": 5},
        {"summary": ["x"]},
        {"sourceMessageIds": {"a": 1}},
        {"sourceMessageIds": None},
        {"quotes": 7},
        {"tags": [1, None, {"x": 2}]},
        {"temporal": "yesterday"},
        {"temporal": {"happenedStart": 5, "participants": "x"}},
        {"scope": ["user"]},
        {"criticality": {}},
        {"eventType": 3},
        {"participants": [[]]},
        {"supersedesEventIds": 9},
    ],
)
def test_no_type_of_value_is_an_exception(odd: dict[str, object]) -> None:
    extraction = validate_extraction(reply(event(), event(**odd, narrative="n")), BEES)
    assert extraction.events


def test_conf_06_an_allergy_is_safety_and_a_liking_is_another_fact() -> None:
    block = context(said("m1", "我对花生过敏。"), said("m2", "我喜欢在清晨跑步。"))
    allergy = event(
        title="花生过敏",
        summary="用户对花生过敏。",
        category="allergy",
        sourceMessageIds=["m1"],
        quotes=["我对花生过敏"],
    )
    liking = event(
        title="清晨跑步",
        summary="用户喜欢在清晨跑步。",
        category="preference",
        sourceMessageIds=["m2"],
        quotes=["我喜欢在清晨跑步"],
    )
    first, second = validate_extraction(reply(allergy, liking), block).events
    assert first.criticality is Criticality.SAFETY
    assert second.criticality is Criticality.PREFERENCE
    assert first.fingerprint != second.fingerprint
    unmarked = {**allergy, "category": None, "criticality": "routine"}
    (draft,) = validate_extraction(reply(unmarked), block).events
    assert draft.criticality is Criticality.SAFETY


def test_lang_03_four_characters_are_enough() -> None:
    block = context(said("m1u", "我吃素。"))
    vegetarian = event(title="吃素", summary="用户吃素。", category="preference", quotes=["我吃素"])
    (draft,) = validate_extraction(reply(vegetarian), block).events
    assert draft.criticality is Criticality.PREFERENCE


def test_only_offered_events_can_be_named() -> None:
    block = context(*BEES.messages, offered=frozenset({"evt_1", "evt_2"}))
    linked = event(
        supersedesEventIds=["evt_1", "evt_404", "1"],
        temporal={"conflictsWithEventIds": ["evt_2"], "sameEventId": "evt_9"},
    )
    extraction = validate_extraction(reply(linked), block)
    (draft,) = extraction.events
    assert draft.supersedes_event_ids == ("evt_1",)
    assert draft.conflicts_with_event_ids == ("evt_2",)
    assert draft.same_event_id is None
    unknown = [one.detail for one in extraction.rejections if one.code == "event_not_offered"]
    assert unknown == ["evt_404", "1", "evt_9"]


def test_exact_repetitions_in_one_reply_become_one_event_with_both_sources() -> None:
    block = context(said("m1u", "I keep bees."), said("m2u", "As I said, I keep bees."))
    once = event(tags=["a"])
    again = event(title="keeps  BEES", sourceMessageIds=["m2u"], tags=["b"])
    (draft,) = validate_extraction(reply(once, again), block).events
    assert draft.source_message_ids == ("m1u", "m2u")
    assert draft.tags == ("a", "b")
    assert {quote.message_id for quote in draft.quotes} == {"m1u", "m2u"}


def test_everything_is_bounded() -> None:
    long = event(
        title="Bees " * 100,
        summary="bees " * 1000,
        narrative="bees " * 9000,
        tags=[f"t{n}" for n in range(40)],
        quotes=[f"I keep bees{' ' * n}" for n in range(40)],
        participants=[f"p{n}" for n in range(40)],
    )
    (draft,) = validate_extraction(reply(long), BEES).events
    assert len(draft.title) <= 200
    assert len(draft.summary) <= 1000
    assert len(draft.narrative or "") <= 8000
    assert len(draft.tags) == 12
    assert len(draft.quotes) <= 12
    assert len(draft.participants) == 24


def test_mentioned_at_is_the_cited_messages_time_whatever_the_model_says() -> None:
    claimed = event(temporal={"mentionedAt": "2031-01-01T00:00:00Z"})
    (draft,) = validate_extraction(reply(claimed), BEES).events
    assert draft.time.mentioned_at == SAID_AT
    assert draft.time.zone == "Asia/Shanghai"


POTTERY = context(
    Message(
        id="m1u",
        role=Role.USER,
        content="Yesterday I finished the pottery course.",
        occurred_at=datetime(2024, 5, 20, 16, tzinfo=UTC),
        zone="Europe/Paris",
    )
)


def pottery(**temporal: object) -> dict[str, object]:
    return event(
        title="Pottery course finished",
        summary="The user finished the pottery course.",
        quotes=["Yesterday I finished the pottery course"],
        temporal=temporal,
    )


@pytest.mark.parametrize(
    "claim",
    [
        {"happenedStart": "2026-08-31", "originalText": "Yesterday", "precision": "day"},
        {"happenedStart": "2024-05-19", "originalText": "Yesterday"},
        {"happenedStart": "2024-05-19"},
        {"originalText": "yesterday"},
        {},
    ],
)
def test_date_01_the_wording_decides_the_date_whatever_the_model_computed(
    claim: dict[str, object],
) -> None:
    (draft,) = validate_extraction(reply(pottery(**claim)), POTTERY).events
    assert (draft.time.happened_start, draft.time.happened_end) == (MAY_19, MAY_19)
    assert (draft.time.precision, draft.time.basis) == ("day", "relative")
    assert draft.time.status == "occurred"
    assert (draft.time.original_text or "").lower() == "yesterday"
    assert draft.time.mentioned_at == datetime(2024, 5, 20, 16, tzinfo=UTC)
    assert draft.time.zone == "Europe/Paris"


@pytest.mark.parametrize("claimed", ["2025-01-01", "2024-02-30", "soon"])
def test_a_date_that_no_words_give_is_dropped_and_noted(claimed: str) -> None:
    extraction = validate_extraction(reply(event(temporal={"happenedStart": claimed})), BEES)
    (draft,) = extraction.events
    assert draft.time.happened_start is None
    assert (draft.time.precision, draft.time.basis) == ("unknown", "unknown")
    assert extraction.notes


def test_date_10_an_inverted_range_loses_its_end_and_the_event_survives() -> None:
    block = context(said("m1u", "The fair runs from 10 to 1 May, 2026."))
    inverted = event(
        title="The fair",
        summary="The fair runs in May.",
        quotes=["10 to 1 May"],
        temporal={
            "happenedStart": "2026-05-10",
            "happenedEnd": "2026-05-01",
            "precision": "day",
            "basis": "explicit",
            "originalText": "10 to 1 May",
        },
    )
    extraction = validate_extraction(reply(inverted), block)
    (draft,) = extraction.events
    start, end = draft.time.happened_start, draft.time.happened_end
    assert start is None or end is None or start <= end
    assert (start, end) != (date(2026, 5, 10), date(2026, 5, 1))
    assert draft.time.original_text
    assert any("inverted_range" in note for note in extraction.notes)


def test_two_time_expressions_without_a_claim_leave_the_date_unknown() -> None:
    block = context(said("m1u", "Yesterday we agreed to meet on 3 May 2026."))
    agreed = event(
        title="Meeting agreed",
        summary="They agreed to meet.",
        quotes=["Yesterday we agreed to meet on 3 May 2026"],
    )
    (draft,) = validate_extraction(reply(agreed), block).events
    assert draft.time.happened_start is None


def test_a_message_without_a_time_gives_no_derived_date() -> None:
    timeless = context(Message(id="m1u", role=Role.USER, content="Yesterday I kept bees."))
    told = event(quotes=["Yesterday I kept bees"], temporal={"originalText": "Yesterday"})
    (draft,) = validate_extraction(reply(told), timeless).events
    assert draft.time.mentioned_at is None
    assert draft.time.happened_start is None
    assert draft.time.original_text == "Yesterday"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        *("title", "summary", "sourceMessageIds", "quotes", "tags", "temporal", "scope"),
        *("criticality", "eventType", "happenedStart", "happenedEnd", "originalText"),
        *("precision", "status", "participants", "sameEventId", "category", "narrative"),
    ]
)


@given(odd=st.dictionaries(FIELDS, JSON, max_size=6), temporal=st.dictionaries(FIELDS, JSON))
def test_any_json_beside_a_good_event_is_taken_or_told(
    odd: dict[str, object], temporal: dict[str, object]
) -> None:
    mixed = {**event(temporal=temporal), **odd}
    extraction = validate_extraction(reply(event(title="Bees"), mixed), BEES)
    assert extraction.events[0].title == "Bees"
    assert len(extraction.events) + len(extraction.refused) == 2
