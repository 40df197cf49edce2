"""Many turns in one request: each item stands alone, in order, each in its own transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from ingest.schemas.turns import TurnIn
from ingest.turns.commit import commit_turn
from ingest.turns.prepare import prepare_turn
from shared.clock import Clock
from shared.errors import InvalidInput, StrataGateError, Unavailable
from shared.http import strict_json
from shared.http.problems import invalid_of, problem_of
from shared.settings import Settings
from shared.store.database import Database

MOST_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class BatchEdge:
    """What storing needs beside the items themselves."""

    database: Database
    tenant_id: str
    namespace: str
    settings: Settings
    clock: Clock
    request_id: str

    def of(self, namespace: str) -> BatchEdge:
        """Return the same for another namespace."""
        return replace(self, namespace=namespace)


def items_of(body: bytes, content_type: str) -> list[str]:
    """Return the JSON texts of a batch: the items of an array, or one a line.

    Raises InvalidInput when it is neither, or holds more than 1,000 items (`too_many_items`).
    """
    text = strict_json.decode(body)
    if "ndjson" in content_type or "jsonl" in content_type or not text.lstrip().startswith("["):
        items = [line for line in text.split("\n") if line.strip()]
    else:
        items = strict_json.split_items(text)
    if len(items) > MOST_ITEMS:
        raise InvalidInput.at("", f"a batch holds at most {MOST_ITEMS} turns", "too_many_items")
    if not items:
        raise InvalidInput.at("", "a batch holds at least one turn", "missing_field")
    return items


def store_batch(edge: BatchEdge, items: Sequence[str]) -> list[dict[str, Any]]:
    """Store each item, a turn's JSON text, and return one result an item, in order."""
    return store_each(edge, [partial(_read, item) for item in items])


def store_each(edge: BatchEdge, items: Sequence[Callable[[], TurnIn]]) -> list[dict[str, Any]]:
    """Store the turn that each item reads and return one result an item, in order.

    Once the database is away, the remaining items are answered with that, untried.
    """
    results: list[dict[str, Any]] = []
    outage: Unavailable | None = None
    for index, item in enumerate(items):
        try:
            if outage is not None:
                raise outage
            answer = _store(edge, item)
        except StrataGateError as error:
            if isinstance(error, Unavailable):
                outage = error
            problem = problem_of(error, edge.request_id)
            results.append({"index": index, "status": error.status, "error": problem})
        else:
            status = 200 if answer.get("stored") is False else 201
            results.append({"index": index, "status": status, "turn": answer})
    return results


def _read(item: str) -> TurnIn:
    try:
        return TurnIn.model_validate(strict_json.parse(item))
    except ValidationError as error:
        raise invalid_of(error.errors(include_url=False)) from error


def _store(edge: BatchEdge, read: Callable[[], TurnIn]) -> dict[str, Any]:
    turn = prepare_turn(read(), edge.clock.now())
    with edge.database.write(edge.tenant_id) as tx:
        return commit_turn(tx, edge.namespace, turn, settings=edge.settings)
