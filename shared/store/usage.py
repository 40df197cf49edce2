"""What model calls cost by UTC day, namespace, step and model: the bill, read from the ledger."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Date, Select, and_, cast, func, or_, select, tuple_

from shared.store.database import ReadTx
from shared.store.tables import model_calls

_TAKEN = ("accepted", "partial")
_DAY = cast(func.timezone("UTC", model_calls.c.created_at), Date).label("day")
_BY = (_DAY, model_calls.c.namespace, model_calls.c.kind, model_calls.c.model)
_SUMS = (
    func.count().label("calls"),
    func.count().filter(model_calls.c.outcome.not_in(_TAKEN)).label("failed_calls"),
    func.coalesce(func.sum(model_calls.c.input_tokens), 0).label("input_tokens"),
    func.coalesce(func.sum(model_calls.c.output_tokens), 0).label("output_tokens"),
)


@dataclass(frozen=True, slots=True)
class UsageKey:
    """Where a row of usage stands: newest day first, then by name."""

    day: date
    namespace: str
    kind: str
    model: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What the calls of one namespace, step and model cost on one UTC day."""

    key: UsageKey
    calls: int
    failed_calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Span:
    """Which usage is asked for: days, both inclusive, and namespaces (None: all)."""

    first: date
    last: date
    only: Collection[str] | None = None


def usage_by_day(tx: ReadTx, span: Span, *, after: UsageKey | None, limit: int) -> list[Usage]:
    """Return usage by day, namespace, step and model, newest day first."""
    grouped = _within(tx, select(*_BY, *_SUMS), span).group_by(*_BY).cte("usage")
    columns = grouped.c
    statement = select(grouped)
    if after is not None:
        place = tuple_(columns.namespace, columns.kind, columns.model)
        statement = statement.where(
            or_(
                columns.day < after.day,
                and_(
                    columns.day == after.day,
                    place > tuple_(after.namespace, after.kind, after.model),
                ),
            )
        )
    order = (columns.day.desc(), columns.namespace, columns.kind, columns.model)
    rows = tx.connection.execute(statement.order_by(*order).limit(limit))
    return [
        Usage(
            UsageKey(row.day, row.namespace, row.kind, row.model),
            row.calls,
            row.failed_calls,
            int(row.input_tokens),
            int(row.output_tokens),
        )
        for row in rows
    ]


def usage_total(tx: ReadTx, span: Span) -> dict[str, int]:
    """Return calls and tokens of the whole span."""
    row = tx.connection.execute(_within(tx, select(*_SUMS), span)).one()
    return {name: int(value) for name, value in row._mapping.items()}


def _within(tx: ReadTx, statement: Select[Any], span: Span) -> Select[Any]:
    begin = datetime.combine(span.first, time.min, UTC)
    end = datetime.combine(span.last, time.min, UTC) + timedelta(days=1)
    statement = statement.where(
        model_calls.c.tenant_id == tx.tenant_id,
        model_calls.c.created_at >= begin,
        model_calls.c.created_at < end,
    )
    if span.only is not None:
        statement = statement.where(model_calls.c.namespace.in_(span.only))
    return statement
