"""Typed material for each prompt's golden renderings; changing it is changing the goldens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, Final

from shared.domain.events import EventTime
from shared.domain.external_memory import Candidate, CandidateTime
from shared.domain.turns import Message, Role
from workers.models.inputs import (
    ExtractInput,
    ImportDecideInput,
    ImportMatch,
    ImportRecoverInput,
    KnownEdge,
    KnownFact,
    KnownNode,
    Neighbour,
    ProjectEvent,
    ProjectInput,
    SummarizeInput,
    TimelineItem,
)
from workers.models.port import Prompt
from workers.prompts import extract, import_decide, import_recover, project, summarize

AT = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
SAID = (
    Message(
        "msg_1",
        Role.USER,
        "We moved the release to 14 May, because Ann is away until then.",
        occurred_at=AT,
        zone="+02:00",
        name="Ben",
    ),
    Message(
        "msg_2",
        Role.ASSISTANT,
        "Noted. Shall I tell the team?",
        occurred_at=AT,
        zone="+02:00",
        tool_calls=({"id": "c1", "name": "calendar", "arguments": {"day": "2026-05-14"}},),
    ),
    Message("msg_3", Role.TOOL, '{"ok": true} </data>', name="calendar"),
)
CHINESE = (
    Message("msg_1", Role.USER, "我们把发布改到五月十四日。", occurred_at=AT, zone="Asia/Shanghai"),
)
TIME = EventTime(mentioned_at=AT, zone="+02:00")
PLANNED = EventTime(
    mentioned_at=AT,
    zone="+02:00",
    happened_start=date(2026, 5, 14),
    original_text="14 May",
    precision="day",
    basis="explicit",
    status="planned",
)


def _block(**changes: object) -> ExtractInput:
    values: dict[str, object] = {
        "block_id": "blk_2",
        "sequence": 2,
        "start_turn": 13,
        "end_turn": 24,
        "ended_at": AT,
        "zone": "+02:00",
        "messages": SAID,
        "allowed_source_message_ids": ("msg_1", "msg_2", "msg_3"),
    }
    return ExtractInput(**(values | changes))  # type: ignore[arg-type] # fields by name


def _with_context() -> ExtractInput:
    item = TimelineItem(
        "evt_1", "Release in April", "It was set to 2 April.", "active", "project", TIME
    )
    before = Neighbour("blk_1", 1, 1, 12, ("The release was set to 2 April.",))
    return _block(previous=before, timeline=(item,))


def _event() -> ProjectEvent:
    return ProjectEvent(
        "evt_2",
        "Release moved to 14 May",
        "Ben said that the release moves to 14 May.",
        "decision",
        "active",
        "project",
        PLANNED,
        participants=("Ben", "Ann"),
        tags=("release",),
        quotes=("We moved the release to 14 May",),
        narrative="Ann is away until then.",
    )


def _graph() -> ProjectInput:
    ben = KnownNode(
        "nod_1", "Ben", "person", ("Benjamin",), ("team",), (KnownFact("role", "lead", True),)
    )
    ann = KnownNode("nod_2", "Ann", "person", facts=(KnownFact("skills", ("Go", "SQL"), False),))
    edge = KnownEdge("nod_1", "works with", "nod_2", True)
    return ProjectInput((_event(),), (ben, ann), (edge,))


BROKEN: Final = "memories: - likes hiking - {title: 'Broken', summary: 'quote never closed"


def _candidate(**changes: Any) -> ImportDecideInput:
    time = CandidateTime(mentioned_at="2025-06-01", original_text="last spring")
    candidate = Candidate("Moved to Bergen", "Ann moved to Bergen.", tags=("home",), temporal=time)
    match = ImportMatch("evt_1", "Lives in Oslo", "Ann lives in Oslo.", "active", EventTime(None))
    return ImportDecideInput(candidate, **{"matches": (match,), **changes})


RENDERINGS: Final[dict[str, Callable[[], Prompt]]] = {
    "summarize": lambda: summarize.render(SummarizeInput(SAID)),
    "summarize_chinese": lambda: summarize.render(SummarizeInput(CHINESE, language="zh")),
    "summarize_part": lambda: summarize.render(SummarizeInput(SAID, part=2, parts=3)),
    "summarize_after_a_cut": lambda: summarize.render(SummarizeInput(SAID, cuts=1)),
    "extract": lambda: extract.render(_block()),
    "extract_with_context": lambda: extract.render(_with_context()),
    "extract_after_cuts": lambda: extract.render(_block(part=1, parts=2, cuts=2)),
    "project": lambda: project.render(ProjectInput((_event(),))),
    "project_with_graph": lambda: project.render(_graph()),
    "import_decide": lambda: import_decide.render(_candidate()),
    "import_decide_alone": lambda: import_decide.render(_candidate(matches=())),
    "import_recover": lambda: import_recover.render(ImportRecoverInput(BROKEN, part=1, parts=2)),
}
"""Every golden by its name."""
