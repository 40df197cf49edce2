"""Performs the calls of a lifecycle trace, one after the other, on replayed namespaces."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from shared.domain import decay
from shared.domain.events import EventDraft, EventTime
from shared.domain.external_memory import Candidate
from shared.domain.external_memory_decide import Decision, normalise_decision, settle_repeated
from shared.domain.external_memory_parse import (
    ParsedImport,
    UnreadableImport,
    parse_external_memory,
    parse_recovered,
)
from shared.domain.external_memory_preview import draft_of, import_summary
from shared.domain.sealing import plan_seals
from shared.domain.turns import Message, Role
from shared.errors import InvalidInput, NotFound, StrataGateError
from tests.golden.lifecycle_events import seeded
from tests.golden.lifecycle_replay import Block, ModelDown, Namespace


@dataclass
class Preview:
    """The decisions on an import before anything is written."""

    candidates: Sequence[Candidate]
    decisions: list[Decision]
    matches: list[str]
    replies: list[Mapping[str, Any]]


class Trace:
    """A trace being performed. `step()` makes the next call; errors come back as values."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        self._calls = deque(entry for entry in entries if "call" in entry)
        self._answers: dict[Any, deque[Mapping[str, Any]]] = defaultdict(deque)
        self._stores: dict[str, Namespace] = {}
        self._store = ""
        self.entry: Mapping[str, Any] = {}
        self.preview = Preview((), [], [], [])
        store = ""
        for entry in entries:
            store = entry.get("store", store)
            if "model" in entry:
                asked = entry.get("messages", entry.get("target"))
                self._answers[store, entry["model"], str(asked)].append(entry)

    @property
    def space(self) -> Namespace:
        """The namespace of the last call."""
        return self._stores[self._store]

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def upcoming(self) -> str:
        return str(self._calls[0]["call"]) if self._calls else ""

    def step(self) -> Any:
        self.entry = self._calls.popleft()
        self._store = self.entry["store"]
        now = datetime.fromisoformat(self.entry["at"])
        if self.entry["call"] == "new in-memory store":
            size = self.entry["args"][0]["blockTurnSize"]
            self._stores[self._store] = Namespace(
                block_turn_size=size, now=now, answer=self._answer
            )
            return None
        self.space.now = now
        try:
            name = re.sub(r"([A-Z])", r"_\1", self.entry["call"]).lower()
            return getattr(self, f"_{name}")(*self.entry["args"])
        except (StrataGateError, ValueError) as error:
            return {"error": str(error)}

    def _answer(self, model: str, asked: Any) -> Mapping[str, Any]:
        waiting = self._answers[self._store, model, str(asked)]
        if waiting:
            entry = waiting.popleft()
            if "threw" in entry:
                raise ModelDown(entry["threw"])
            reply: Mapping[str, Any] = entry["returned"]
            return reply
        if model != "summarizer":
            raise ModelDown("the trace holds no answer for this call")
        texts = [text for _, text in asked]
        head = {"l0Title": f"T:{texts[0]}", "l0Tags": ["tag"], "l1Summary": f"S:{texts[0]}"}
        return {**head, "l2Keypoints": texts, "shouldExtract": False}

    def _append_turn(self, given: Any, options: Any = None) -> list[Block]:
        return self.space.append(given, defer=bool(options and options.get("deferProcessing")))

    def _resume_pending_work(self, options: Any = None) -> list[Block]:
        return self.space.resume(forced=bool(options and options.get("retryFailed")))

    def _retry_block_summary(self, block_id: str) -> None:
        self.space.retry_summary(block_id)

    def _expand_block(self, *args: Any) -> Block:
        return self.space.expand(*args)

    def _set_block_turn_size(self, size: Any) -> None:
        if not isinstance(size, int):
            raise InvalidInput.at("/block_turn_size", "must be a whole number")
        plan_seals(0, sealed_turns=0, block_turn_size=size)
        self.space.size = size

    def _set_block_decay_lambda(self, value: Any) -> None:
        rate = float("nan") if isinstance(value, dict) else value
        decay.decay_weight(1, 1, decay_lambda=rate)
        self.space.decay_lambda = rate

    def _add_event(self, given: Mapping[str, Any]) -> str:
        block = next((b for b in self.space.blocks if b.id == given["sourceBlockId"]), None)
        if block is None:
            raise NotFound("Unknown source block")
        shelf = self.space.events
        if given.get("id") in shelf.by_id:
            raise InvalidInput("Duplicate event ID")
        time = EventTime(mentioned_at=block.messages[0].occurred_at)
        draft = EventDraft(given["title"], given["summary"], (), time)
        draft = seeded(given, sources=[one.id for one in block.messages], draft=draft)
        offered = frozenset(shelf.visible())
        event_id = shelf.add(draft, block.id, formed_turn=block.namespace_turn, offered=offered)
        self.space.new_id("proj")
        return event_id

    def _search_events(self, _query: str) -> list[str]:
        return self.space.events.visible()

    def _record_memory_use(self, used: Any, options: Any = None) -> None:
        ids = used["eventIds"] if isinstance(used, dict) else used
        named = options or {}
        self.space.events.use(
            ids,
            turn=self.space.turn_counter,
            receipt=named.get("receiptId"),
            audit=named.get("audit"),
        )

    def _forget_event(self, event_id: str) -> None:
        self.space.events.forget(event_id)

    def _restore_event(self, event_id: str) -> None:
        self.space.events.restore(event_id)

    def _pin_event(self, event_id: str) -> None:
        self.space.events.pin(event_id)

    def _preview_external_memory_import(self, given: Mapping[str, Any]) -> Preview:
        parsed = parse_external_memory(given["text"])
        shelf = self.space.events
        matches = shelf.latest_first()[:5]
        stored = {shelf.by_id[one].draft.fingerprint: one for one in shelf.visible()}
        settled = settle_repeated(parsed.candidates, stored)
        replies: list[Mapping[str, Any]] = []
        decided: list[Decision] = []
        for one in settled:
            if one is None:
                replies.append(self._answer("decider", None))
            decided.append(one or normalise_decision(replies[-1], matches=matches))
        self.preview = Preview(parsed.candidates, decided, matches, replies)
        return self.preview

    def _commit_external_memory_import(self, given: Mapping[str, Any]) -> Any:
        candidates, decisions = given["candidates"], given["decisions"]
        preview = self.preview
        if len(candidates) != len(decisions) or len(candidates) != len(preview.candidates):
            raise InvalidInput("one decision a candidate")
        return self._commit(given["text"], preview)

    def _commit(self, text: str, preview: Preview) -> list[tuple[Decision, str | None]]:
        space = self.space
        block_id = space.new_id("blk")
        message = Message(
            id=space.new_id("msg"), role=Role.USER, content=text, occurred_at=space.now
        )
        block = Block(
            id=block_id,
            thread=f"external-import:{block_id}",
            sequence=len(space.blocks) + 1,
            first_turn=1,
            last_turn=1,
            messages=(message,),
            created_at=space.now,
            namespace_turn=space.turn_counter,
            anchor_position=1,
            is_ready=True,
            head=import_summary(text),
        )
        space.blocks.append(block)
        made = []
        for candidate, decision in zip(preview.candidates, preview.decisions, strict=True):
            made.append((decision, self._enact(candidate, decision, block)))
        return made

    def _enact(self, candidate: Candidate, decision: Decision, block: Block) -> str | None:
        if not decision.adds_event:
            return None
        draft = replace(
            draft_of(decision.merged or candidate, block.messages[0]),
            supersedes_event_ids=decision.supersedes,
            conflicts_with_event_ids=decision.conflicts_with,
        )
        return self.space.events.add(
            draft, block.id, formed_turn=block.namespace_turn, offered=self.preview.matches
        )

    def _undo_external_memory_import(self, block_id: str) -> Any:
        block = next((b for b in self.space.blocks if b.id == block_id), None)
        if block is None or not (block.thread or "").startswith("external-import:"):
            raise NotFound("Unknown external memory import")
        block.is_undone = True
        return self.space.events.undo(block_id)

    def _create_external_memory_import_job(self, text: str) -> Any:
        try:
            parsed = parse_external_memory(text)
        except UnreadableImport as error:
            return ["extracting" if error.is_recoverable else "failed", 0]
        return _import_state(parsed)

    def _complete_external_memory_fallback(self, _job: str, reply: Any) -> Any:
        parsed = parse_recovered(reply)
        return _import_state(parsed)

    def _retry_external_memory_import_job(self, _job: str) -> str:
        return "extracting"


def _import_state(parsed: ParsedImport) -> Any:
    if parsed.candidates:
        return "processing"
    return ["failed", "nothing could be recovered"] if parsed.is_recovered else "ready"
