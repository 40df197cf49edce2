"""How many labelled evidence messages of real conversations the rules' events cite."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.domain.extraction import ExtractionContext, validate_extraction
from shared.domain.turns import Message, Role
from workers.models.inputs import ExtractInput, SummarizeInput, TimelineItem
from workers.models.rules.extract import extract
from workers.models.rules.summarize import summarize

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo-dev.json"
BLOCK_TURNS = 12
SHOWN_EVENTS = 12
EPOCH = datetime(2023, 1, 1, tzinfo=UTC)
LEAST_RECALL = 0.88
MOST_EVENTS_A_MESSAGE = 0.9

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.exists(), reason="the labelled conversations are not here"),
]


@dataclass
class Coverage:
    """What one conversation gave."""

    name: str
    messages: int = 0
    events: int = 0
    cited: set[str] = field(default_factory=set)
    evidence: set[str] = field(default_factory=set)
    unsound: int = 0
    links: int = 0
    blocks: int = 0
    cpu_ms: float = 0.0

    @property
    def found(self) -> int:
        return len(self.cited & self.evidence)

    def row(self) -> str:
        """Return the conversation's line of the table in docs/evaluation/rules-engine.md."""
        cited = len(self.cited) / self.messages
        recall = self.found / len(self.evidence)
        return (
            f"| {self.name} | {self.messages} | {self.events} | {cited:.0%} | {len(self.evidence)} "
            f"| {self.found} | {recall:.1%} | {self.unsound} | {self.links} "
            f"| {self.cpu_ms / self.blocks:.0f} |"
        )


@pytest.fixture(scope="module")
def coverage() -> list[Coverage]:
    return [_measured(sample) for sample in json.loads(DATA.read_text(encoding="utf-8"))]


def test_events_cite_most_of_the_evidence_without_flooding(
    coverage: list[Coverage], capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        print("\n" + "\n".join(one.row() for one in coverage))  # noqa: T201 - the table to publish
    evidence = sum(len(one.evidence) for one in coverage)
    assert sum(one.found for one in coverage) / evidence >= LEAST_RECALL
    messages = sum(one.messages for one in coverage)
    assert sum(one.events for one in coverage) / messages <= MOST_EVENTS_A_MESSAGE


def test_every_event_has_a_legal_source_and_a_verbatim_quote(coverage: list[Coverage]) -> None:
    assert [one.name for one in coverage if one.unsound] == []


def _measured(sample: dict[str, Any]) -> Coverage:
    found = Coverage(sample["sample_id"])
    timeline: list[TimelineItem] = []
    ids: set[str] = set()
    for block in _blocks(sample["conversation"]):
        messages = tuple(message for turn in block for message in turn)
        ids |= {one.id for one in messages}
        shown = tuple(timeline[-SHOWN_EVENTS:])
        material = ExtractInput(
            "blk", 1, 1, len(block), messages[0].occurred_at or EPOCH, "UTC", messages,
            tuple(one.id for one in messages), timeline=shown,
        )  # fmt: skip
        began = time.process_time()
        reply = extract(material)
        found.cpu_ms += (time.process_time() - began) * 1000
        summarize(SummarizeInput(messages))
        found.blocks += 1
        found.messages += len(messages)
        if not reply["shouldExtract"]:
            continue
        offered = frozenset(item.event_id for item in shown)
        drafts = validate_extraction(reply, ExtractionContext(messages, offered))
        found.unsound += len(drafts.rejections)
        for event in drafts.events:
            found.events += 1
            found.cited.update(event.source_message_ids)
            found.unsound += not event.quotes
            found.links += len(event.supersedes_event_ids) + len(event.conflicts_with_event_ids)
            timeline.append(
                TimelineItem(
                    f"evt_{found.events}", event.title, event.summary, "active", "user", event.time
                )
            )
    found.evidence = {one for qa in sample["qa"] for one in qa["evidence"]} & ids
    return found


def _blocks(conversation: dict[str, Any]) -> Iterator[list[list[Message]]]:
    """Yield blocks of whole turns; no turn and no block crosses a session (D49)."""
    number = 1
    while f"session_{number}_date_time" in conversation:
        turns = _turns(conversation, number)
        for start in range(0, len(turns), BLOCK_TURNS):
            yield turns[start : start + BLOCK_TURNS]
        number += 1


def _turns(conversation: dict[str, Any], number: int) -> list[list[Message]]:
    said_at = conversation[f"session_{number}_date_time"]
    at = datetime.strptime(said_at, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    first = conversation["speaker_a"]
    turns: list[list[Message]] = []
    previous: str | None = None
    for item in conversation.get(f"session_{number}", []):
        speaker = item["speaker"]
        if previous is None or (speaker == first and previous != first):
            turns.append([])
        caption = item.get("blip_caption")
        text = item["text"] + (f" [image: {caption}]" if caption else "")
        role = Role.USER if speaker == first else Role.ASSISTANT
        turns[-1].append(Message(item["dia_id"], role, text, at, "UTC", name=speaker))
        previous = speaker
    return turns
