from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import orjson
import pytest

from shared.domain.budget import estimate_tokens
from shared.domain.events import Criticality, EventTime, EventType
from tests.integration.retrieval.world import NS, World

TOKYO = timezone(timedelta(hours=9))


def _titles(reply: Any) -> list[str]:
    return [item["title"] for item in reply["items"]]


def test_conf_02_the_current_value_stands_first_and_alone_is_current(world: World) -> None:
    block = world.block("I work at the Harbour Museum.", "Noted.")
    old = world.event(block, "Works at the Harbour Museum", criticality=Criticality.IDENTITY)
    new = world.event(block, "Now works at the City Archive", "The user is at the City Archive.")
    world.supersede(old, new)
    reply = world.ask("events/search", {"query": "Where does the user work?"})
    assert [item["event_id"] for item in reply["items"]] == [new, old]
    current, former = reply["items"]
    assert (current["is_current"], former["is_current"]) == (True, False)
    assert (former["status"], former["superseded_by"]) == ("superseded", new)
    assert former["weight"] <= 0.1
    assert current["supersedes_event_ids"] == [old]


def test_a_replacement_is_shown_even_where_no_word_finds_it(world: World) -> None:
    block = world.block("I work at the Harbour Museum.", "Noted.")
    old = world.event(block, "Works at the Harbour Museum")
    new = world.event(block, "Moved to the City Archive")
    world.supersede(old, new)
    reply = world.ask("events/search", {"query": "harbour museum"})
    assert [item["event_id"] for item in reply["items"]] == [new, old]
    assert old in reply["items"][0]["match_reason"]
    only = world.ask("events/search", {"query": "harbour museum", "statuses": ["superseded"]})
    assert [item["event_id"] for item in only["items"]] == [old]


def test_cost_04_the_whole_reply_keeps_to_max_tokens(world: World) -> None:
    block = world.block("My garden grows.", "Good.")
    titles = [f"Garden bed {index} got new soil and was dug over twice" for index in range(50)]
    world.many_events(block, titles)
    answer = world.post(
        f"/v1/retrieval/{NS}/events/search",
        {"query": "garden", "max_tokens": 600, "limit": 50},
    )
    reply = answer.json()
    assert estimate_tokens(answer.text) <= 600
    assert estimate_tokens(answer.text) == estimate_tokens(orjson.dumps(reply).decode())
    assert reply["truncated"] is True
    assert reply["next_step"]
    assert reply["items"]
    refs = [row["evidence_ref"] for row in world.rows("batch_items")]
    assert sorted(refs) == sorted(item["evidence_ref"] for item in reply["items"])


def test_date_04_a_day_stays_the_day_of_its_own_zone(world: World) -> None:
    block = world.block("The rehearsal was that evening.", "Noted.")
    world.event(
        block,
        "The rehearsal took place",
        time=EventTime(
            mentioned_at=datetime(2026, 3, 10, 9, 0, tzinfo=UTC),
            zone="Europe/London",
            happened_start=datetime(2026, 3, 9, 23, 30, tzinfo=UTC),
            precision="day",
            basis="explicit",
            status="occurred",
            original_text="that evening",
        ),
    )
    body = {"query": "When was the rehearsal?", "timezone": "Asia/Tokyo"}
    (item,) = world.ask("events/search", body)["items"]
    assert item["temporal"]["happened_start"] == "2026-03-09"
    assert item["source_time"] == "2026-03-09"
    assert item["temporal"]["original_text"] == "that evening"


def test_date_05_yesterday_is_the_day_before_the_question_in_its_zone(world: World) -> None:
    block = world.block("I did things.", "Noted.")
    inside = _happened(world, block, "Baked bread", datetime(2025, 12, 31, 0, 0, tzinfo=TOKYO))
    late = _happened(world, block, "Lit candles", datetime(2025, 12, 31, 23, 59, tzinfo=TOKYO))
    _happened(world, block, "Rang the bell", datetime(2026, 1, 1, 0, 0, tzinfo=TOKYO))
    _happened(world, block, "Swept the yard", datetime(2025, 12, 30, 23, 59, tzinfo=TOKYO))
    body = {
        "query": "what did I do yesterday",
        "query_time": "2026-01-01T01:00:00+09:00",
        "timezone": "Asia/Tokyo",
    }
    reply = world.ask("events/search", body)
    assert reply["query_windows"] == [
        {
            "text": "yesterday",
            "start": "2025-12-31T00:00:00+09:00",
            "until": "2026-01-01T00:00:00+09:00",
        }
    ]
    assert {item["event_id"] for item in reply["items"]} == {inside, late}
    assert "yesterday" in reply["items"][0]["match_reason"]
    without_zone = world.ask("events/search", {"query": "what did I do yesterday"})
    assert without_zone["query_windows"] == []


def test_date_09_an_instant_is_an_instant_and_a_date_is_read_in_the_zone(world: World) -> None:
    block = world.block("The kiln was fired.", "Noted.")
    midnight = datetime(2026, 4, 1, tzinfo=UTC)
    exact = world.event(block, "Kiln one fired", time=EventTime(mentioned_at=midnight))
    before = world.event(
        block, "Kiln two fired", time=EventTime(mentioned_at=midnight - timedelta(hours=2))
    )

    def found(start: str, **fields: Any) -> set[str]:
        body = {"query": "kiln", "mentioned": {"from": start}, **fields}
        return {item["event_id"] for item in world.ask("events/search", body)["items"]}

    assert found("2026-04-01T00:00:00Z") == {exact}
    assert found("2026-04-01T02:00:00+02:00") == {exact}
    assert found("2026-04-01", timezone="UTC") == {exact}
    assert found("2026-04-01", timezone="Europe/Berlin") == {exact, before}
    naive = world.post(
        f"/v1/retrieval/{NS}/events/search",
        {"query": "kiln", "mentioned": {"from": "2026-04-01"}},
    )
    assert (naive.status_code, naive.json()["code"]) == (422, "naive_time")


def test_filters_are_hard_and_say_when_they_excluded_everything(world: World) -> None:
    block = world.block("We met about the roof.", "Noted.")
    meeting = world.event(
        block, "Roof meeting", event_type=EventType.MEETING, participants=("Ann Lee", "Bo")
    )
    world.event(block, "Roof decision", event_type=EventType.DECISION, participants=("Bo",))
    reply = world.ask("events/search", {"query": "roof", "event_types": ["meeting"]})
    assert [item["event_id"] for item in reply["items"]] == [meeting]
    reply = world.ask("events/search", {"query": "roof", "participants": ["ann", "bo"]})
    assert [item["event_id"] for item in reply["items"]] == [meeting]
    for narrow in (
        {"event_types": ["release"]},
        {"participants": ["Carl"]},
        {"occurred": {"from": "2020-01-01T00:00:00Z"}},
        {"mentioned": {"to": "2020-01-01T00:00:00Z"}},
        {"statuses": ["superseded"]},
    ):
        reply = world.ask("events/search", {"query": "roof", **narrow})
        assert (reply["items"], reply["empty_reason"]) == ([], "filtered_out"), narrow


def test_a_filter_loses_no_match_to_better_hits_that_it_excludes(world: World) -> None:
    block = world.block("Roof, roof and roof again.", "Noted.")
    world.many_events(
        block, [f"Roof roof roof {index}" for index in range(220)], participants=("Bo",)
    )
    wanted = world.event(block, "About one roof among other things", participants=("Ann",))
    body = {"query": "roof", "participants": ["Ann"], "limit": 3}
    assert [i["event_id"] for i in world.ask("events/search", body)["items"]] == [wanted]


def test_gate_05_an_empty_namespace_is_not_a_miss(world: World) -> None:
    world.begin()
    for path in ("events/search", "graph/search", "raw/search"):
        reply = world.ask(path, {"query": "anything"})
        assert (reply["items"], reply["empty_reason"]) == ([], "no_data")
        assert reply["pending"] == {"blocks": 0, "oldest_age_s": None}
    blocks = world.see("blocks")
    assert (blocks["items"], blocks["empty_reason"]) == ([], "no_blocks_in_namespace")


def test_gate_06_what_is_still_processing_is_said(world: World) -> None:
    for index in range(3):
        world.block(f"We decided on the roof, part {index}.", "Good.", ready=False)
    reply = world.ask("events/search", {"query": "decision about the roof"})
    assert reply["items"] == []
    assert reply["empty_reason"] == "still_processing"
    assert reply["pending"]["blocks"] == 3
    assert reply["pending"]["oldest_age_s"] >= 0
    assert len(world.ask("raw/search", {"query": "roof"})["items"]) >= 3


def test_a_query_without_searchable_terms_finds_nothing(world: World) -> None:
    block = world.block("The roof leaks.", "Noted.")
    world.event(block, "Roof leaks")
    reply = world.ask("events/search", {"query": "???"})
    assert (reply["items"], reply["empty_reason"]) == ([], "no_match")
    assert len(world.ask("events/search", {"query": ""})["items"]) == 1


def test_a_forgotten_event_leaves_every_read_at_once(world: World) -> None:
    block = world.block("The roof leaks.", "Noted.")
    event = world.event(block, "Roof leaks", criticality=Criticality.SAFETY)
    world.forget(event)
    assert world.ask("events/search", {"query": "roof"})["items"] == []
    assert world.see("events")["items"] == []
    assert world.see("timeline")["items"] == []
    assert world.ask("context", {"thread_id": "new", "query": "roof"})["activated"]["events"] == []
    assert world.post(f"/v1/retrieval/{NS}/events/{event}/expand").status_code == 404


def test_first_and_latest_order_what_matches(world: World) -> None:
    block = world.block("I went to Paris.", "Noted.")
    days = [date(2026, 1, 5), date(2024, 6, 1), date(2025, 3, 3)]
    late, early, _ = (
        world.event(
            block,
            "Visited Paris",
            f"A trip to Paris in {day.year}",
            time=EventTime(
                mentioned_at=datetime(2026, 2, 1, tzinfo=UTC),
                happened_start=day,
                happened_end=day,
                precision="day",
            ),
        )
        for day in days
    )
    for intent, wanted in (("first", early), ("latest", late)):
        body = {"query": "visit Paris", "temporal_intent": intent, "limit": 1}
        assert world.ask("events/search", body)["items"][0]["event_id"] == wanted


def test_a_card_says_what_matched(world: World) -> None:
    block = world.block("Tulips and Ann.", "Noted.")
    world.event(block, "Tulips planted", "Ann planted bulbs.", participants=("Ann",))
    (item,) = world.ask("events/search", {"query": "What did Ann do with the tulips?"})["items"]
    assert item["matched_fields"] == ["title", "summary", "participants"]
    assert "'tulips'" in item["match_reason"]
    assert item["evidence_ref"] == f"event:{item['event_id']}"


def test_an_expanded_event_shows_its_quotes_and_source_messages(world: World) -> None:
    block = world.block("The roof leaks.", "Noted.", timezone="UTC")
    event = world.event(block, "Roof leaks", narrative="It leaked all night.")
    reply = world.ask(f"events/{event}/expand", {"thread_id": "main"})
    assert reply["event"]["narrative"] == "It leaked all night."
    assert reply["event"]["source_messages"][0]["content"] == "The roof leaks."
    assert world.see(f"events/{event}").items() >= reply["event"].items()


@pytest.mark.parametrize("body", [{"query": "x", "tenant_id": "t"}, {"limit": 0}, {"query": 3}])
def test_what_the_contract_does_not_know_is_422(world: World, body: dict[str, Any]) -> None:
    world.begin()
    answer = world.post(f"/v1/retrieval/{NS}/events/search", body)
    assert answer.status_code == 422
    assert answer.json()["errors"]


def test_lists_are_paged_by_keys(world: World) -> None:
    block = world.block("One.", "Two.")
    for index in range(5):
        world.event(block, f"Event {index}")
    for path in ("events", "timeline"):
        seen: list[str] = []
        cursor = None
        while True:
            query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
            page = world.see(path, **query)
            seen += [(item.get("event") or item)["title"] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert sorted(seen) == [f"Event {index}" for index in range(5)]


def _happened(world: World, block: str, title: str, at: datetime) -> str:
    return world.event(
        block,
        title,
        time=EventTime(
            mentioned_at=datetime(2026, 2, 1, tzinfo=UTC),
            zone="Asia/Tokyo",
            happened_start=at,
            happened_end=at,
            precision="instant",
        ),
    )
