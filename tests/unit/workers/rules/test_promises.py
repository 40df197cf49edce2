"""What holds for any conversation: valid replies, verbatim quotes, legal sources, no chance."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.extraction import ExtractionContext, validate_extraction
from shared.domain.graph import SourceEvent
from shared.domain.graph_proposal import validate_proposal
from shared.domain.turns import Message, Origin, Role
from tests.unit.workers.rules.memory import answer, project_event, summary_of
from workers.models.inputs import ExtractInput, ProjectInput, TimelineItem
from workers.models.port import TaskKind

AT = datetime(2026, 3, 2, 8, tzinfo=UTC)
_SUBJECTS = [
    "I",
    "We",
    "Mara",
    "My sister Elin",
    "The red boat",
    "Jonas Weber",
    "我",
    "张伟",
    "我们",
]
_ACTS = [
    "decided to use pnpm", "love tea", "is allergic to nuts", "plan to visit Rome next week",
    "switched from npm to pnpm", "finished the report yesterday", "no longer eat meat",
    "work at Fabrikam", "对花生过敏", "打算下周去北京", "吃素",
    "从MySQL换成了Postgres", "在上海工作",
]  # fmt: skip
_ENDS = [".", "!", "。", "？", "?", "...", "", ";", "\n", ", can you help?"]
_WHOLE = [
    "ok",
    "好的",
    "Thanks!",
    "[image: a lake]",
    "```\ncode\n```",
    "说错了,会议室在五楼。",
    "The plan is off.",
]
_LOOSE = st.text(max_size=60) | st.sampled_from(_WHOLE)
_SENTENCE = st.builds(
    lambda a, b, c: f"{a} {b}{c}",
    st.sampled_from(_SUBJECTS),
    st.sampled_from(_ACTS),
    st.sampled_from(_ENDS),
)
_TEXT = st.lists(_SENTENCE | _LOOSE, min_size=1, max_size=4).map(" ".join)
_MESSAGE = st.builds(
    lambda role, text, name, origin: Message("", role, text, name=name, origin=origin),
    st.sampled_from(list(Role)),
    _TEXT,
    st.sampled_from([None, "Jon", "Gina", "user"]),
    st.sampled_from([None, None, Origin.HUMAN, Origin.MODEL, Origin.INJECTED]),
)


def _dated(messages: list[Message]) -> tuple[Message, ...]:
    return tuple(
        replace(one, id=f"msg_{i}", occurred_at=AT + timedelta(minutes=i), zone="Europe/Berlin")
        for i, one in enumerate(messages)
    )


def _material(messages: tuple[Message, ...], timeline: tuple[TimelineItem, ...]) -> ExtractInput:
    ids = tuple(one.id for one in messages)
    return ExtractInput("blk", 1, 1, 1, AT, "UTC", messages, ids, timeline=timeline)


@given(st.lists(_MESSAGE, min_size=1, max_size=6), st.lists(_MESSAGE, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_every_reply_is_valid_grounded_and_the_same_each_time(
    earlier: list[Message], later: list[Message]
) -> None:
    timeline: tuple[TimelineItem, ...] = ()
    for messages in (_dated(earlier), _dated(later)):
        material = _material(messages, timeline)
        reply = answer(TaskKind.EXTRACT, material)
        assert reply == answer(TaskKind.EXTRACT, material)
        assert summary_of(messages) == summary_of(messages)
        if not reply["shouldExtract"]:
            continue
        offered = frozenset(item.event_id for item in timeline)
        found = validate_extraction(reply, ExtractionContext(messages, offered))
        assert found.rejections == ()
        contents = {one.id: one.content for one in messages}
        for event in found.events:
            assert event.quotes
            assert all(quote.text in contents[quote.message_id] for quote in event.quotes)
        events = {f"evt_{i}": event for i, event in enumerate(found.events)}
        projected = answer(
            TaskKind.PROJECT,
            ProjectInput(tuple(project_event(key, one) for key, one in events.items())),
        )
        sources = {key: SourceEvent(key, "active", AT) for key in events}
        _, refused = validate_proposal(projected, events=sources, job_event_ids=frozenset(events))
        assert refused == ()
        timeline = tuple(
            TimelineItem(key, one.title, one.summary, "active", one.scope.value, one.time)
            for key, one in events.items()
        )


@given(_TEXT)
@settings(max_examples=60, deadline=None)
def test_what_only_an_assistant_says_is_never_an_event(text: str) -> None:
    messages = _dated([Message("", Role.USER, "Hello!"), Message("", Role.ASSISTANT, text)])
    assert not answer(TaskKind.EXTRACT, _material(messages, ()))["shouldExtract"]


@given(_TEXT)
@settings(max_examples=40, deadline=None)
def test_system_text_and_injected_context_are_never_sources(text: str) -> None:
    messages = _dated(
        [
            Message("", Role.SYSTEM, text),
            Message("", Role.USER, text, origin=Origin.INJECTED),
            Message("", Role.TOOL, text),
        ]
    )
    assert not answer(TaskKind.EXTRACT, _material(messages, ()))["shouldExtract"]
