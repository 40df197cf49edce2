"""How many labelled dates of real conversations stand right in the events of the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from shared.domain.events import EventDraft
from shared.domain.extraction import ExtractionContext, validate_extraction
from shared.domain.temporal import TimeExpression, resolve
from shared.domain.turns import Message
from tests.bench.test_rules_coverage import DATA, EPOCH, _blocks
from workers.models.inputs import ExtractInput
from workers.models.rules.extract import extract

LABELS = DATA.parent / "temporal-dev.json"

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not LABELS.exists(), reason="the labelled conversations are not here"),
]


@dataclass(frozen=True)
class Dated:
    """An event that cites a labelled message in words that overlap the label's."""

    label: dict[str, Any]
    event: EventDraft
    resolved: TimeExpression | None

    @property
    def stored(self) -> tuple[str, str, str]:
        time = self.event.time
        return str(time.happened_start), str(time.happened_end), time.precision

    @property
    def is_as_resolved(self) -> bool:
        if self.resolved is None:
            return False
        found = self.resolved
        return self.stored == (str(found.start), str(found.end), found.precision.value)

    @property
    def is_right(self) -> bool:
        return self.stored == tuple(self.label[name] for name in ("start", "end", "precision"))


@pytest.fixture(scope="module")
def dated() -> list[Dated]:
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["cases"]
    said = {label["text"]: label for label in labels if label["expression"]}
    samples = json.loads(DATA.read_text(encoding="utf-8"))
    return [one for sample in samples for one in _dated(sample["conversation"], said)]


def test_every_stored_date_of_a_labelled_message_is_what_the_resolver_gives(
    dated: list[Dated], capsys: pytest.CaptureFixture[str]
) -> None:
    right = sum(one.is_right for one in dated)
    messages = len({one.label["id"] for one in dated})
    with capsys.disabled():
        print(  # noqa: T201 - the figures to publish
            f"\n{len(dated)} events cite {messages} labelled messages in overlapping words; "
            f"{sum(one.is_as_resolved for one in dated)} as the resolver gives; {right} right"
        )
    assert dated
    assert [one.stored for one in dated if not one.is_as_resolved] == []


def _dated(conversation: dict[str, Any], said: dict[str, dict[str, Any]]) -> Iterator[Dated]:
    for block in _blocks(conversation):
        messages = tuple(message for turn in block for message in turn)
        if not any(_label_of(one, said) for one in messages):
            continue
        at = messages[0].occurred_at or EPOCH
        ids = tuple(one.id for one in messages)
        reply = extract(ExtractInput("blk", 1, 1, len(block), at, "UTC", messages, ids))
        if not reply["shouldExtract"]:
            continue
        drafts = validate_extraction(reply, ExtractionContext(messages))
        known = {one.id: one for one in messages}
        for event in drafts.events:
            for source in event.source_message_ids:
                yield from _overlapping(event, known[source], said)


def _overlapping(
    event: EventDraft, message: Message, said: dict[str, dict[str, Any]]
) -> Iterator[Dated]:
    label, words = _label_of(message, said), event.time.original_text
    if label is None or words is None or message.occurred_at is None:
        return
    place = _span(message.content, label["expression"])
    if not _overlaps(place, _span(message.content, words)):
        return
    found = resolve(message.content, message.occurred_at, message.zone)
    yield Dated(label, event, next((one for one in found if _overlaps(place, one.span)), None))


def _label_of(message: Message, said: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    return said.get(message.content.split(" [image: ", 1)[0])


def _span(text: str, words: str) -> tuple[int, int]:
    start = text.find(words)
    return start, start + len(words) if start >= 0 else start


def _overlaps(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] >= 0 and other[0] >= 0 and one[0] < other[1] and other[0] < one[1]
