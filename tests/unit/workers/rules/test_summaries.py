"""What the rules' summaries promise for blocks with next to nothing in them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.domain.turns import Message, Role
from tests.unit.workers.rules.memory import summary_of

AT = datetime(2026, 3, 2, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "said", ["text", "unknown", "None", "N/A", "Untitled", "无", "标题", "[text]", "???", "👍"]
)
def test_words_that_stand_for_nothing_still_get_a_valid_summary(said: str) -> None:
    message = Message(id="msg_1", role=Role.USER, content=said, occurred_at=AT, zone="UTC")
    summary = summary_of([message])
    assert summary.title
    assert summary.keypoints
