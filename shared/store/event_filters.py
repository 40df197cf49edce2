"""The hard filters of events as conditions, with a parameter for each value (D20).

A filter's shape says which conditions there are; its values are given when the statement is run,
so that a statement is built once for each shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    DateTime,
    Integer,
    Text,
    and_,
    any_,
    bindparam,
    func,
    or_,
)

from shared.domain.event_filters import VISIBLE_STATUSES, EventFilter, Window
from shared.store.direct import only_checked
from shared.store.tables import events
from shared.store.versions import in_version

SOURCE_TIME = func.coalesce(events.c.happened_from, events.c.mentioned_at, events.c.created_at)
"""What places an event in time: when it happened, else was said, else was stored."""

Bounds = tuple[bool, bool] | None
"""Whether a window has a start, and an end; None where no window is asked for."""


@dataclass(frozen=True, slots=True)
class EventScope:
    """Which events a search may see at all: one namespace's live derivation version (D19)."""

    namespace: str
    version: int
    except_thread: str | None = None


@dataclass(frozen=True, slots=True)
class FilterShape:
    """What a search asks of events, without the values."""

    leaves_out_a_thread: bool
    names_types: bool
    mentioned: Bounds
    occurred: Bounds

    def conditions(self, *, found_by_key: bool = False) -> list[ColumnElement[bool]]:
        """Return the conditions on `events`; their parameters are `filter_values`.

        `found_by_key`: rows are fetched by their id, and the namespace is only checked.
        """
        namespace = only_checked(events.c.namespace) if found_by_key else events.c.namespace
        asked: list[ColumnElement[bool]] = [
            events.c.tenant_id == bindparam("tenant_id", type_=Text),
            namespace == bindparam("namespace", type_=Text),
            in_version(bindparam("version", type_=Integer)),
            events.c.status == any_(bindparam("statuses", type_=ARRAY(Text))),
        ]
        if self.leaves_out_a_thread:
            asked.append(events.c.thread_id != bindparam("except_thread", type_=Text))
        if self.names_types:
            asked.append(events.c.event_type == any_(bindparam("event_types", type_=ARRAY(Text))))
        if self.mentioned is not None:
            asked.append(_within_instant(*self.mentioned))
        if self.occurred is not None:
            asked.append(_overlapping(*self.occurred))
        return asked


def shape_of(scope: EventScope, wanted: EventFilter) -> FilterShape:
    """Return which conditions a filter makes."""
    return FilterShape(
        leaves_out_a_thread=scope.except_thread is not None,
        names_types=bool(wanted.event_types),
        mentioned=_bounds(wanted.mentioned),
        occurred=_bounds(wanted.occurred),
    )


def filter_values(scope: EventScope, wanted: EventFilter) -> Mapping[str, Any]:
    """Return the parameters of the conditions of a filter, beside the tenant."""
    values: dict[str, Any] = {
        "namespace": scope.namespace,
        "version": scope.version,
        "statuses": sorted(status.value for status in wanted.statuses & VISIBLE_STATUSES),
    }
    if scope.except_thread is not None:
        values["except_thread"] = scope.except_thread
    if wanted.event_types:
        values["event_types"] = sorted(one.value for one in wanted.event_types)
    for name, window in (("mentioned", wanted.mentioned), ("occurred", wanted.occurred)):
        if window is not None:
            bounds = {f"{name}_start": window.start, f"{name}_end": window.end}
            values |= {bound: moment for bound, moment in bounds.items() if moment is not None}
    return values


def _bounds(window: Window | None) -> Bounds:
    return None if window is None else (window.start is not None, window.end is not None)


def _instant(name: str) -> ColumnElement[Any]:
    return bindparam(name, type_=DateTime(timezone=True))


def _within_instant(has_start: bool, has_end: bool) -> ColumnElement[bool]:
    said = events.c.mentioned_at
    bounds: list[ColumnElement[bool]] = [said.is_not(None)]
    if has_start:
        bounds.append(said >= _instant("mentioned_start"))
    if has_end:
        bounds.append(said <= _instant("mentioned_end"))
    return and_(*bounds)


def _overlapping(has_start: bool, has_end: bool) -> ColumnElement[bool]:
    """The stored span is half-open, but for an instant, which lasts no time."""
    begin, until = events.c.happened_from, events.c.happened_until
    start = _instant("occurred_start")
    bounds: list[ColumnElement[bool]] = [begin.is_not(None)]
    if has_start:
        bounds.append(or_(until > start, and_(begin == until, begin >= start)))
    if has_end:
        bounds.append(begin <= _instant("occurred_end"))
    return and_(*bounds)
