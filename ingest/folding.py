"""Take a host's event stream: fold it into turns and store each as any other turn is stored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from ingest.schemas.fields import parse_instant
from ingest.schemas.host_events import (
    HostEventIn,
    HostEventsIn,
    HostMessageContent,
    ScopedHostEventsIn,
)
from ingest.schemas.turns import TurnIn
from ingest.turns.batch import BatchEdge, store_each
from ingest.turns.content import plain_text
from shared.domain.host_events import (
    COMPLETED,
    SAID_BY_PERSON,
    HostEvent,
    HostEventKind,
    HostTurn,
    fold_events,
    project_namespace,
    read_arguments,
    receipt_of,
)
from shared.domain.tenancy import check_name
from shared.errors import InvalidInput
from shared.http import strict_json
from shared.http.problems import invalid_of

_KINDS = {kind.value: kind for kind in HostEventKind}
_MESSAGES = frozenset({HostEventKind.USER_MESSAGE, HostEventKind.ASSISTANT_MESSAGE})
# Parts of a message that the stream tells again as events of their own.
_TOLD_APART = frozenset({"tool_use", "tool_call", "tool_result"})
_NO_HUMAN = "no_human_message"


def namespace_of(body: ScopedHostEventsIn) -> str:
    """Return the namespace that a stream belongs to, by its scope.

    Raises InvalidInput for a project without an absolute `cwd`.
    """
    if body.scope == "session":
        return f"session:{body.session}"
    if body.scope == "global":
        return check_name(f"global:{body.name}", "/name")
    if body.cwd is None:
        raise InvalidInput.at("/cwd", "the scope `project` needs a cwd", "missing_field")
    return project_namespace(body.cwd)


def store_stream(edge: BatchEdge, body: HostEventsIn) -> dict[str, Any]:
    """Fold a stream, store its turns in order, and return what became of it all.

    Raises InvalidInput, storing nothing, for an event whose content or time is none.
    """
    events = [_event(item, n, body) for n, item in enumerate(body.events)]
    folded = fold_events(events, first_turn=body.first_turn)
    said = [turn for turn in folded.turns if turn.user_text]
    stored = iter(store_each(edge, [_Reader(turn, body) for turn in said]))
    items = [_item(turn, body, next(stored) if turn.user_text else None) for turn in folded.turns]
    return {
        "namespace": edge.namespace,
        "thread_id": body.thread_id or body.session,
        "items": items,
        **_counts(items),
        "unfinished": [
            {
                "turn": turn.number,
                "subagent": turn.subagent,
                "first_event": turn.first,
                "events": turn.events,
            }
            for turn in folded.unfinished
        ],
        "unused_events": [{"event": n, "reason": why.value} for n, why in folded.unused],
    }


def _item(turn: HostTurn, body: HostEventsIn, result: Mapping[str, Any] | None) -> dict[str, Any]:
    item = {
        "turn": turn.number,
        "subagent": turn.subagent,
        "receipt_id": _receipt(turn, body),
        "end": turn.end_kind,
    }
    if result is None or result.get("error", {}).get("code") == _NO_HUMAN:
        return {**item, "status": 200, "skipped": _NO_HUMAN}
    if "error" in result:
        return {**item, "status": result["status"], "error": result["error"]}
    return {**item, "status": result["status"], "result": result["turn"]}


def _counts(items: list[dict[str, Any]]) -> dict[str, int]:
    results = [item["result"] for item in items if "result" in item]
    duplicates = sum(1 for result in results if result["duplicate"])
    ignored = sum(1 for result in results if result.get("stored") is False)
    return {
        "stored": len(results) - duplicates - ignored,
        "duplicates": duplicates,
        "ignored": ignored,
        "skipped": sum(1 for item in items if "skipped" in item),
        "failed": sum(1 for item in items if "error" in item),
    }


def _receipt(turn: HostTurn, body: HostEventsIn) -> str:
    return receipt_of(body.session, turn.number, subagent=turn.subagent)


class _Reader:
    """A folded turn as the body that a platform would have posted for it."""

    def __init__(self, turn: HostTurn, body: HostEventsIn) -> None:
        self.turn = turn
        self.body = body

    def __call__(self) -> TurnIn:
        turn, body = self.turn, self.body
        answer: dict[str, Any] = {"role": "assistant", "content": turn.assistant_text}
        if turn.tool_calls:
            answer["tool_calls"] = [dict(call) for call in turn.tool_calls]
        agent = body.agent
        if turn.subagent is not None:
            agent_view: dict[str, Any] | None = {"id": turn.subagent, "is_subagent": True}
        else:
            agent_view = agent.model_dump() if agent and not agent.is_subagent else None
        try:
            return TurnIn.model_validate(
                {
                    "thread_id": body.thread_id or body.session,
                    "receipt_id": _receipt(turn, body),
                    "timezone": body.timezone,
                    "occurred_at": turn.ended_at,
                    "messages": [{"role": "user", "content": turn.user_text}, answer],
                    "agent": agent_view,
                    "labels": body.labels,
                    "metadata": body.metadata,
                }
            )
        except ValidationError as error:
            raise invalid_of(error.errors(include_url=False)) from error


def _event(item: HostEventIn, index: int, body: HostEventsIn) -> HostEvent:
    kind = _KINDS.get(item.type)
    pointer = f"/events/{index}"
    return HostEvent(
        kind=kind,
        text=_text(item.content, pointer) if kind in _MESSAGES else "",
        source=item.source.kind if item.source else SAID_BY_PERSON,
        subagent=_subagent(item, body),
        turn=item.turn if kind is HostEventKind.TURN_START else None,
        at=_time(item.occurred_at, body.timezone, f"{pointer}/occurred_at"),
        call_id=item.call_id,
        name=item.name,
        arguments=read_arguments(item.arguments, parse=_parse),
        result=_result(item, pointer) if kind is HostEventKind.TOOL_RESULT else None,
        end_kind=item.kind or COMPLETED,
    )


def _subagent(item: HostEventIn, body: HostEventsIn) -> str | None:
    agent = item.agent or body.agent
    return agent.id if agent is not None and agent.is_subagent else None


def _text(content: Any, pointer: str) -> str:
    try:
        checked = HostMessageContent(content=content).content
    except ValidationError as error:
        raise invalid_of(error.errors(include_url=False), pointer) from error
    if isinstance(checked, list):
        checked = [part for part in checked if not _is_told_apart(part)]
    return plain_text(checked)


def _is_told_apart(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") in _TOLD_APART


def _result(item: HostEventIn, pointer: str) -> Any:
    """Return a result as it came, parts of text as their text; a failure is marked as one."""
    value = item.content if item.result is None else item.result
    is_parts = isinstance(value, list) and bool(value)
    if is_parts and all(isinstance(part, Mapping) and "type" in part for part in value):
        value = _text(value, pointer)
    return {"error": value} if item.is_error and isinstance(value, str) else value


def _time(value: str | float | None, timezone: str | None, pointer: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        try:
            value = datetime.fromtimestamp(value / 1_000, UTC).isoformat()
        except (ValueError, OverflowError, OSError) as error:
            raise InvalidInput.at(pointer, "there is no such instant", "invalid_time") from error
    parse_instant(value, timezone, pointer)
    return value


def _parse(text: str) -> tuple[bool, Any]:
    """Read JSON that can be stored; what cannot stays the text it was."""
    try:
        return True, strict_json.parse(text)
    except InvalidInput:
        return False, None
