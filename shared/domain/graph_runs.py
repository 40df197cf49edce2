"""Gather statements of one group into records: unbroken stretches of the same value (D15, D16).

The result depends on which statements there are, not on the order they arrived in: a value
said again extends its record, one said in between splits it. Visibility plays no part, so
that a forgotten statement still stands between its neighbours when it is restored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from shared.domain.graph import Edge, Fact, FactMode, SourceEvent, value_key
from shared.domain.graph_timeline import (
    Lane,
    Order,
    holds_from,
    lane_of,
    points,
    source_order,
)

Record = TypeVar("Record", Fact, Edge)


@dataclass(frozen=True, slots=True)
class _Point:
    """One source event stating one record's value."""

    order: Order
    value: str
    lane: Lane
    closes: bool
    event: SourceEvent
    index: int


def gather(
    stored: Sequence[Record],
    stated: Sequence[Record],
    *,
    events: Mapping[str, SourceEvent],
    new_id: Callable[[], str],
) -> list[Record]:
    """Return the records of one group after new statements: ids are kept where a stretch goes on.

    `stored` have ids; `stated` are new statements whose id does not count and whose
    `valid_from` is when they begin to hold. A stored record none of whose events is known is
    returned as it is.
    """
    records: list[Record] = list(stored) + list(stated)
    made = [p for i, record in enumerate(records) for p in _points_of(record, i, events)]
    made.sort(key=lambda p: (p.order, p.index))
    placed = {p.index for p in made}
    out: list[Record] = [r for i, r in enumerate(stored) if i not in placed]
    seen: set[int] = set()
    for run in _split(made, stored=len(stored)):
        owner = _owner(run, len(stored))
        record = _record(run, records, seen, events)
        if owner is None or owner in seen:
            out.append(replace(record, id=new_id()))
        else:
            kept = records[owner]
            # A store keeps sources as a set: the same ones in another order are no change.
            is_same = set(record.source_event_ids) == set(kept.source_event_ids)
            sources = kept.source_event_ids if is_same else record.source_event_ids
            out.append(
                replace(record, id=kept.id, recorded_at=kept.recorded_at, source_event_ids=sources)
            )
        seen |= {p.index for p in run}
    return out


def _points_of(record: Record, index: int, events: Mapping[str, SourceEvent]) -> list[_Point]:
    value, closes = _rule(record)
    return [
        _Point(source_order(e), value, lane_of(record.stance, e), closes, e, index)
        for e in points(record, events)
    ]


def _rule(record: Fact | Edge) -> tuple[str, bool]:
    if isinstance(record, Fact):
        return value_key(record.value), record.mode is not FactMode.SET
    return record.to_node_id, record.cardinality == "one"


def _split(ordered: Sequence[_Point], *, stored: int) -> list[list[_Point]]:
    """Cut points in source order into runs of one value and lane.

    Two stored records are never merged: each keeps its id.
    """
    runs: list[list[_Point]] = []
    open_runs: dict[tuple[str, Lane], list[_Point]] = {}
    for point in ordered:
        kind = (point.value, point.lane)
        run = open_runs.get(kind)
        is_other = run is not None and _owner(run, stored) not in (None, point.index)
        if run is None or (is_other and point.index < stored) or _is_cut(run, point, ordered):
            run = []
            runs.append(run)
            open_runs[kind] = run
        run.append(point)
    return runs


def _owner(run: Sequence[_Point], stored: int) -> int | None:
    return next((p.index for p in run if p.index < stored), None)


def _is_cut(run: Sequence[_Point], point: _Point, ordered: Sequence[_Point]) -> bool:
    last = run[-1]
    return any(_cuts(p, last) for p in ordered if last.order < p.order < point.order)


def _cuts(between: _Point, run: _Point) -> bool:
    """Tell whether a statement in between ends a stretch, as it would end it in a timeline."""
    if run.lane is Lane.PAST:
        return False
    if run.lane is Lane.PLANNED:
        is_other = (between.value, between.lane) != (run.value, run.lane)
        ends = between.closes or between.value == run.value
        return is_other and ends and between.lane in (Lane.SOLID, Lane.PLANNED)
    return between.lane is Lane.SOLID and between.closes and between.value != run.value


def _record(
    run: Sequence[_Point],
    records: Sequence[Record],
    seen: set[int],
    events: Mapping[str, SourceEvent],
) -> Record:
    """Merge a run into one record: the first spelling, all sources, the earliest beginning.

    Sources that only support a record stay with its first stretch.
    """
    members = [records[i] for i in dict.fromkeys(p.index for p in run)]
    sources = [p.event.id for p in run]
    for record in (records[i] for i in dict.fromkeys(p.index for p in run) if i not in seen):
        stating = {e.id for e in points(record, events)}
        sources += [i for i in record.source_event_ids if i not in stating]
    return replace(
        members[0],
        valid_from=min(holds_from(p.event) for p in run),
        recorded_at=min(m.recorded_at for m in members),
        confidence=max(m.confidence for m in members),
        source_event_ids=tuple(dict.fromkeys(sources)),
    )
