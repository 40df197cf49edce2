"""A host's event stream folded into turns: `turn/start` to `turn/end`, what people and models said.

Pure: numbers, texts and times come from the events alone, so the same stream gives the same turns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from shared.domain.derivation import is_memory_tool
from shared.domain.json_text import parse_json
from shared.errors import InvalidInput

SAID_BY_PERSON = "user"
"""The source kind of a user message that a person wrote; every other kind is injected."""

COMPLETED = "completed"
INTERRUPTED = "interrupted"
"""How a turn ended that another one followed without its `turn/end`."""

_GAP = "\n\n"
_ABSOLUTE = re.compile(r"(?:[a-z]:)?/")
_KEY_DIGITS = 20


class HostEventKind(StrEnum):
    """The events that a turn is made of; others say nothing about it."""

    TURN_START = "turn/start"
    USER_MESSAGE = "user/message"
    ASSISTANT_MESSAGE = "assistant/message"
    TOOL_CALL = "tool/call"
    TOOL_RESULT = "tool/result"
    TURN_END = "turn/end"


class Unused(StrEnum):
    """Why an event is in no turn."""

    UNKNOWN_TYPE = "unknown_type"
    OUTSIDE_TURN = "outside_turn"
    INJECTED = "injected"
    OWN_TOOL = "memory_tool"
    NO_CALL = "no_such_call"
    REPEATED = "repeated_result"


@dataclass(frozen=True, slots=True)
class HostEvent:
    """One event, its content as plain text.

    `kind` None is a type that is not known. `subagent` is the id of the sub-agent it belongs to,
    None for the session's own agent. `at` is the time as it was given.
    """

    kind: HostEventKind | None
    text: str = ""
    source: str = SAID_BY_PERSON
    subagent: str | None = None
    turn: int | None = None
    at: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    end_kind: str = COMPLETED


@dataclass(frozen=True, slots=True)
class HostTurn:
    """A turn that has ended; `user_text` is empty when no person said anything.

    `number` counts the turns of its agent in the session, from 1, unless the host numbers them.
    `ended_at` is the time of its end, else the last one seen in it. `first` is the place of its
    first event.
    """

    number: int
    subagent: str | None
    user_text: str
    assistant_text: str
    tool_calls: tuple[Mapping[str, Any], ...]
    ended_at: str | None
    end_kind: str
    first: int


@dataclass(frozen=True, slots=True)
class UnfinishedTurn:
    """A turn without its end at the end of the stream: nothing of it is stored."""

    number: int
    subagent: str | None
    first: int
    events: int


@dataclass(frozen=True, slots=True)
class Folded:
    """The turns of a stream in the order of their ends, and what became of the rest."""

    turns: tuple[HostTurn, ...]
    unfinished: tuple[UnfinishedTurn, ...]
    unused: tuple[tuple[int, Unused], ...]


def fold_events(events: Sequence[HostEvent], *, first_turn: int = 1) -> Folded:
    """Return the turns of a stream; `first_turn` numbers the first of the session's own agent.

    Several messages of one side are joined by blank lines; an answer without text reads `Turn
    completed.` or `Turn ended: <kind>.`. Only the first result of a call counts. The turns of
    sub-agents may lie within those of others.
    """
    fold = _Fold(first_turn)
    for index, event in enumerate(events):
        reason = fold.take(index, event)
        if reason is not None:
            fold.unused.append((index, reason))
    unfinished = tuple(turn.unfinished() for turn in fold.open.values())
    return Folded(tuple(fold.ended), unfinished, tuple(fold.unused))


def read_arguments(
    value: Any, *, parse: Callable[[str], tuple[bool, Any]] = parse_json
) -> dict[str, Any]:
    """Return a call's arguments as an object: text is read as JSON, other values are wrapped.

    `parse` tells whether a text is JSON that can be kept, and its value.
    """
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return dict(value)
    if not isinstance(value, str):
        return {"value": value}
    is_json, read = parse(value)
    if not is_json:
        return {"raw": value}
    return read if isinstance(read, dict) else {"value": read}


def receipt_of(session: str, number: int, *, subagent: str | None) -> str:
    """Return the receipt of a turn: the same turn of the same session is stored once."""
    if subagent is None:
        return f"host:{session}:turn:{number}"
    return f"host:{session}:agent:{_digits(subagent)}:turn:{number}"


def project_namespace(cwd: str) -> str:
    """Return the namespace of a working directory: `project:` and 20 digits of its hash.

    Backslashes become slashes, letters small, and `.`, `..` and doubled slashes are resolved by
    the text alone. Raises InvalidInput for a path that is not absolute.
    """
    path = cwd.strip().replace("\\", "/").lower()
    root = _ABSOLUTE.match(path)
    if root is None:
        raise InvalidInput.at("/cwd", "give an absolute path", "invalid_value")
    parts: list[str] = []
    for part in path[root.end() :].split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return f"project:{_digits(root.group() + '/'.join(parts))}"


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_DIGITS]


@dataclass(slots=True)
class _Call:
    call_id: str | None
    name: str
    trace: dict[str, Any]
    is_own: bool
    is_answered: bool = False


@dataclass(slots=True)
class _Turn:
    """A turn under way."""

    number: int
    subagent: str | None
    first: int
    events: int = 0
    user_texts: list[str] = field(default_factory=list)
    assistant_texts: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    last_at: str | None = None

    def ended(self, kind: str) -> HostTurn:
        said = _GAP.join(self.assistant_texts)
        if not said:
            said = "Turn completed." if kind == COMPLETED else f"Turn ended: {kind}."
        return HostTurn(
            number=self.number,
            subagent=self.subagent,
            user_text=_GAP.join(self.user_texts),
            assistant_text=said,
            tool_calls=tuple(call.trace for call in self.calls if not call.is_own),
            ended_at=self.last_at,
            end_kind=kind,
            first=self.first,
        )

    def unfinished(self) -> UnfinishedTurn:
        return UnfinishedTurn(self.number, self.subagent, self.first, self.events)


@dataclass(slots=True)
class _Fold:
    """The state of a fold: one turn under way for each agent."""

    first_turn: int
    open: dict[str | None, _Turn] = field(default_factory=dict)
    next_number: dict[str | None, int] = field(default_factory=dict)
    ended: list[HostTurn] = field(default_factory=list)
    unused: list[tuple[int, Unused]] = field(default_factory=list)

    def take(self, index: int, event: HostEvent) -> Unused | None:
        """Take one event in; return why it is in no turn, if it is in none."""
        if event.kind is None:
            return Unused.UNKNOWN_TYPE
        if event.kind is HostEventKind.TURN_START:
            self._start(index, event)
        turn = self.open.get(event.subagent)
        if turn is None:
            return Unused.OUTSIDE_TURN
        turn.events += 1
        turn.last_at = event.at or turn.last_at
        if event.kind is HostEventKind.TURN_END:
            self._end(event)
            return None
        return _add(turn, event)

    def _start(self, index: int, event: HostEvent) -> None:
        agent = event.subagent
        # A host that went down in a turn never ends it; what was said then is not lost.
        if agent in self.open:
            self.ended.append(self.open.pop(agent).ended(INTERRUPTED))
        start = self.first_turn if agent is None else 1
        number = event.turn if event.turn is not None else self.next_number.get(agent, start)
        self.next_number[agent] = number + 1
        self.open[agent] = _Turn(number, agent, index)

    def _end(self, event: HostEvent) -> None:
        self.ended.append(self.open.pop(event.subagent).ended(event.end_kind))


def _add(turn: _Turn, event: HostEvent) -> Unused | None:
    if event.kind is HostEventKind.USER_MESSAGE:
        if event.source != SAID_BY_PERSON:
            return Unused.INJECTED
        if event.text.strip():
            turn.user_texts.append(event.text)
    elif event.kind is HostEventKind.ASSISTANT_MESSAGE:
        if event.text.strip():
            turn.assistant_texts.append(event.text)
    elif event.kind is HostEventKind.TOOL_CALL:
        return _call(turn, event)
    elif event.kind is HostEventKind.TOOL_RESULT:
        return _result(turn, event)
    return None


def _call(turn: _Turn, event: HostEvent) -> Unused | None:
    name = event.name or "unknown"
    is_own = is_memory_tool(event.name)
    trace = {"name": name, "arguments": dict(event.arguments)}
    turn.calls.append(_Call(event.call_id, name, trace, is_own))
    return Unused.OWN_TOOL if is_own else None


def _result(turn: _Turn, event: HostEvent) -> Unused | None:
    if is_memory_tool(event.name):
        return Unused.OWN_TOOL
    asked = [call for call in turn.calls if _is_answer(event, call)]
    if not asked:
        return Unused.NO_CALL
    waiting = [call for call in asked if not call.is_answered]
    if not waiting:
        return Unused.REPEATED
    waiting[0].is_answered = True
    if waiting[0].is_own:
        return Unused.OWN_TOOL
    waiting[0].trace["result"] = event.result
    return None


def _is_answer(event: HostEvent, call: _Call) -> bool:
    """Tell whether a result may answer a call: by its id, else by its name, else in order."""
    if event.call_id is not None:
        return call.call_id == event.call_id
    return event.name is None or event.name == call.name
