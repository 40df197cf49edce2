"""Everything about a turn that needs no database, done before its transaction opens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ingest.schemas.fields import parse_instant
from ingest.schemas.turns import MessageIn, TurnIn
from ingest.turns.content import plain_text
from ingest.turns.trace import trace_of
from shared.domain.derivation import without_memory_context, without_memory_tools
from shared.domain.redaction import redact, redact_value
from shared.domain.search_terms import search_terms
from shared.domain.turns import UNTHREADED, Message, Origin, Role, has_human_message
from shared.errors import InvalidInput
from shared.ids import Prefix, new_id
from shared.store.receipts import request_hash

_ROLES = {"developer": Role.SYSTEM, "function": Role.TOOL}


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """A message as it was said, its redacted view, and the terms that view is found by."""

    message: Message
    redacted: Message
    frequencies: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A turn ready to be committed; `request_hash` is of what was sent, before redaction (D42)."""

    turn_id: str
    thread_id: str
    receipt_id: str
    request_hash: str
    occurred_at: datetime
    zone: str
    time_basis: str
    messages: tuple[PreparedMessage, ...]
    agent: Mapping[str, Any] | None
    is_subagent: bool
    labels: Mapping[str, Any]
    metadata: Mapping[str, Any]


def prepare_turn(body: TurnIn, now: datetime, *, receipt_id: str | None = None) -> PreparedTurn:
    """Return the turn to commit; a turn without `occurred_at` happened when it arrived, `now`.

    `receipt_id` stands in for one that the body lacks. `memory_*` calls and their results are
    left out (D41). Raises InvalidInput: for times that are none, `missing_field` without a
    receipt, and `no_human_message` when no person said anything.
    """
    receipt = body.receipt_id or receipt_id
    if receipt is None:
        raise InvalidInput.at(
            "/receipt_id", "give a receipt_id, or an Idempotency-Key header", "missing_field"
        )
    occurred_at, zone = now, body.timezone or "UTC"
    if body.occurred_at is not None:
        occurred_at, zone = parse_instant(body.occurred_at, body.timezone, "/occurred_at")
    said = tuple(
        _message(item, f"/messages/{n}", body=body, default=(occurred_at, zone))
        for n, item in enumerate(body.messages)
    )
    messages = tuple(without_memory_tools(said))
    _require_human(messages)
    return PreparedTurn(
        turn_id=new_id(Prefix.TURN),
        thread_id=body.thread_id or UNTHREADED,
        receipt_id=receipt,
        request_hash=request_hash(body.model_dump(mode="json", exclude_defaults=True)),
        occurred_at=occurred_at,
        zone=zone,
        time_basis="given" if body.occurred_at is not None else "received",
        messages=tuple(_prepared(message) for message in messages),
        agent=body.agent.model_dump() if body.agent else None,
        is_subagent=body.agent is not None and body.agent.is_subagent,
        labels=body.labels,
        metadata=body.metadata,
    )


def _message(
    item: MessageIn, pointer: str, *, body: TurnIn, default: tuple[datetime, str]
) -> Message:
    occurred_at, zone = default
    if item.occurred_at is not None:
        occurred_at, zone = parse_instant(item.occurred_at, body.timezone, f"{pointer}/occurred_at")
    return Message(
        id=new_id(Prefix.MESSAGE),
        role=_ROLES.get(item.role) or Role(item.role),
        content=_said(item),
        occurred_at=occurred_at,
        zone=zone,
        thread_id=body.thread_id,
        name=item.name,
        origin=Origin(item.origin) if item.origin else None,
        tool_calls=tuple(trace_of(item.tool_calls or (), item.function_call)),
        tool_call_id=item.tool_call_id,
        metadata=item.metadata,
    )


def _said(item: MessageIn) -> str:
    text = plain_text(item.content)
    if text:
        return text
    transcript = item.audio.get("transcript") if item.audio else None
    return item.refusal or (transcript if isinstance(transcript, str) else "")


def _require_human(messages: tuple[Message, ...]) -> None:
    """Memory that was put into a message for the model is not something its author said."""
    own_words = tuple(replace(m, content=without_memory_context(m.content)) for m in messages)
    if not has_human_message(own_words):
        raise InvalidInput.at(
            "/messages",
            "a turn needs a user message with text that a person wrote",
            code="no_human_message",
        )


def _prepared(message: Message) -> PreparedMessage:
    redacted = replace(
        message,
        content=redact(message.content),
        tool_calls=tuple(redact_value(dict(call)) for call in message.tool_calls),
    )
    return PreparedMessage(message, redacted, frequencies_of(redacted))


def frequencies_of(message: Message) -> Mapping[str, int]:
    """Count what a message is found by; what memory itself put there must not find itself."""
    if message.origin is Origin.INJECTED:
        return {}
    return Counter(search_terms(without_memory_context(message.content)))
