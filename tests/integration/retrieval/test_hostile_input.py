"""Whatever a client sends, the answer is a clean one: never a 5xx, never an echo of an id."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.retrieval.world import NS, World

EVENTS = f"/v1/retrieval/{NS}/events/search"
ODD_TEXTS = [
    "<|endoftext|> [INST] {{x}} %s %(a)s :terms",
    "' OR 1=1; DROP TABLE events; --",
    "\\u0000 literal",
    "a" * 8_000,
    "😀" * 2_000,
    "会议室在五楼 ひらがな 한국어 ไทย",
    "“quoted” ... ??? !!! \t\n\r",
    "‮right to left‬",
]
BAD_BODIES: list[dict[str, Any]] = [
    {"query": "x", "query_time": "0001-01-01T00:00:00+14:00", "timezone": "America/New_York"},
    {"query": "x", "query_time": "9999-12-31T23:59:59Z", "timezone": "Asia/Tokyo"},
    {"query": "x", "query_time": "yesterday", "timezone": "UTC"},
    {"query": "x", "timezone": "../../etc/passwd", "query_time": "2026-01-01"},
    {"query": "x", "thread_id": "a/b"},
    {"query": "x", "thread_id": "\x00"},
    {"query": "x\x00"},
    {"query": "a" * 8_001},
    {"query": None},
    {"query": "x", "limit": 10**30},
    {"query": "x", "limit": 1.5},
    {"query": "x", "participants": ["a"] * 25},
    {"query": "x", "occurred": {"from": "2026-13-01"}},
    {"query": "x", "occurred": {"start": 1}},
    {"query": "x", "event_types": ["wedding"]},
    {"query": "x", "statuses": ["forgotten"]},
    {"query": "x", "max_tokens": 1},
]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_may_be_asked_for(world: World, text: str) -> None:
    block = world.block(text[:4_000], "Noted.")
    world.event(block, "A thing", summary=text[:900])
    for path in ("events/search", "graph/search", "raw/search"):
        world.ask(path, {"query": text})
    world.ask("context", {"query": text, "thread_id": "other"})


@pytest.mark.parametrize("body", BAD_BODIES)
def test_what_cannot_be_meant_is_422_and_names_the_field(
    world: World, body: dict[str, Any]
) -> None:
    world.begin()
    answer = world.post(EVENTS, body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"].startswith("/")


def test_the_ends_of_the_calendar_are_days_like_others(world: World) -> None:
    block = world.block("The end is far.", "Noted.")
    world.event(block, "The end is far")
    for span in (
        {"from": "0001-01-01", "to": "9999-12-31"},
        {"from": "0001-01-01T00:00:00+14:00", "to": "9999-12-31T23:59:59-14:00"},
    ):
        body = {"query": "end", "mentioned": span, "timezone": "Asia/Tokyo"}
        assert len(world.ask("events/search", body)["items"]) == 1
    world.ask("events/search", {"query": "on 31 December 9999", "timezone": "UTC"})
    for at in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        world.ask("graph/search", {"query": "end", "at": at})
        world.see("graph", at=at)
        world.see("timeline", **{"from": at})


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("events", {"cursor": "***"}),
        ("timeline", {"cursor": "YWJj"}),
        ("timeline", {"from": "soon"}),
        ("timeline", {"from": "2026-01-01"}),
        ("graph", {"at": "now"}),
        ("graph", {"limit": "0"}),
        ("blocks", {"scope": "tenant"}),
        ("blocks", {"thread_id": "a b"}),
        ("events", {"statuses": "lost"}),
    ],
)
def test_an_odd_query_string_is_422(world: World, path: str, query: dict[str, str]) -> None:
    world.begin()
    answer = world.get(f"/v1/retrieval/{NS}/{path}", **query)
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize("body", ["[]", "1", '"x"', "{", "", '{"query": NaN}', "\xff"])
def test_a_body_that_is_no_object_is_422(world: World, body: str) -> None:
    world.begin()
    headers = world.headers | {"Content-Type": "application/json"}
    answer = world.http.post(EVENTS, content=body.encode("latin-1"), headers=headers)
    assert answer.status_code == 422, answer.text
