"""A fact holds from the day its source says, shown in that source's own zone (D3)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from retrieval.graph_cards import fact_card
from shared.domain.graph import FactMode, NodeType, RecordStatus
from shared.domain.graph_view import FactView, NodeView
from shared.store.events import StoredEvent

FACT = FactView(
    id="fct_1",
    mode=FactMode.STATE,
    key="package manager",
    value="pnpm",
    status=RecordStatus.ACTIVE,
    valid_from=datetime(2026, 2, 3, 23, 0, tzinfo=UTC),
    valid_until=None,
    recorded_at=datetime(2026, 2, 5, tzinfo=UTC),
    confidence=0.8,
    source_event_ids=("evt_1",),
    is_planned=False,
)
NODE = NodeView(
    id="nod_1",
    type=NodeType.PROJECT,
    name="Orion",
    aliases=(),
    tags=(),
    status=RecordStatus.ACTIVE,
    confidence=0.8,
    state_text="package manager: pnpm",
    current_facts=(FACT,),
    historical_facts=(),
    current_edges=(),
    historical_edges=(),
    source_event_ids=("evt_1",),
)


def _event(zone: str) -> StoredEvent:
    # Only the zone is read here.
    fields: dict[str, Any] = dict.fromkeys(StoredEvent.__slots__)
    return StoredEvent(**(fields | {"zone": zone}))


def test_midnight_in_berlin_is_shown_as_that_day_and_not_the_evening_before() -> None:
    card = fact_card(FACT, NODE, {"evt_1": _event("Europe/Berlin")})
    assert card.valid_from == "2026-02-04T00:00:00+01:00"


def test_a_fact_whose_events_are_not_at_hand_is_shown_in_utc() -> None:
    assert fact_card(FACT, NODE, {}).valid_from == "2026-02-03T23:00:00+00:00"
