"""An in-memory namespace that replays a lifecycle trace through the product's pure rules.

It only keeps books. When to seal, whether a summary or an event stands, when to try again, how
a block fades and what links do to events is asked of shared.domain.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from shared.domain import decay, jobs, sealing
from shared.domain.blocks import InvalidSummary, Summary, validate_summary
from shared.domain.extraction import ExtractionContext, validate_extraction
from shared.domain.model_json import UnreadableReply
from shared.domain.turns import Message, Role, has_human_message
from shared.errors import Conflict, InvalidInput, NotFound
from tests.golden.lifecycle_events import EventShelf

Answer = Callable[[str, Any], Mapping[str, Any]]
FAILED = (jobs.JobState.RETRYABLE, jobs.JobState.DEAD)


class ModelDown(Exception):
    """The trace says that the model failed here, or holds no answer for the call."""


@dataclass
class Work:
    """One job's standing."""

    kind: jobs.JobKind
    state: jobs.JobState = jobs.JobState.AVAILABLE
    attempt: int = 0
    error: str | None = None
    next_at: datetime | None = None

    def is_due(self, now: datetime, *, forced: bool) -> bool:
        if self.state is jobs.JobState.AVAILABLE:
            return True
        waited = self.next_at is not None and self.next_at <= now
        return self.state is jobs.JobState.RETRYABLE and (forced or waited)

    def fail(self, error: Exception, now: datetime) -> None:
        failure = jobs.Failure(jobs.FailureClass.MALFORMED, "failed", str(error))
        row = jobs.Job(
            tenant_id="ten", job_id="job", namespace="n", kind=self.kind, subject="s",
            queue="q", state=self.state, attempt=self.attempt, max_attempts=3, lease_token="l",
        )  # fmt: skip
        again = jobs.may_try_again(row, failure)
        pause = jobs.backoff_s(self.attempt, base_s=1.0, jitter=0.0)
        self.state = jobs.JobState.RETRYABLE if again else jobs.JobState.DEAD
        self.error, self.next_at = str(error), now + timedelta(seconds=pause) if again else None


@dataclass
class Block:
    """A sealed block."""

    id: str
    thread: str | None
    sequence: int
    first_turn: int
    last_turn: int
    messages: tuple[Message, ...]
    created_at: datetime
    namespace_turn: int
    anchor_position: int
    anchor_level: int = decay.DEEPEST
    lifted_by: str | None = None
    is_ready: bool = False
    is_undone: bool = False
    head: Summary | None = None
    summarize: Work = field(default_factory=lambda: Work(jobs.JobKind.SUMMARIZE))
    extract: Work = field(default_factory=lambda: Work(jobs.JobKind.EXTRACT))


@dataclass
class Turn:
    """A completed turn in the open tail."""

    thread: str | None
    messages: tuple[Message, ...]
    namespace_turn: int


class Namespace:
    """One namespace of a trace."""

    def __init__(self, *, block_turn_size: int, now: datetime, answer: Answer) -> None:
        self.now = now
        self.size = block_turn_size
        self.decay_lambda = decay.DEFAULT_LAMBDA
        self.turn_counter = 0
        self.tail: list[Turn] = []
        self.blocks: list[Block] = []
        self.receipts: dict[str, tuple[str, ...]] = {}
        self.seen: list[dict[str, Any]] = []
        self._answer = answer
        self._numbers = itertools.count(1)
        self.events = EventShelf(self.new_id)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers)}"

    def append(self, given: Mapping[str, Any], *, defer: bool = False) -> list[Block]:
        thread, receipt = _name(given, "threadId"), _name(given, "receiptId")
        said_at = datetime.fromisoformat(given["createdAt"]) if "createdAt" in given else self.now
        texts = (given["user"], given["assistant"])
        if receipt in self.receipts:
            if self.receipts[receipt] != texts:
                raise Conflict("another turn has this receipt", code="receipt_conflict")
            return []
        roles = zip((Role.USER, Role.ASSISTANT), texts, strict=True)
        messages = tuple(
            Message(id="", role=role, content=text, occurred_at=said_at, thread_id=thread)
            for role, text in roles
        )
        if not has_human_message(messages):
            raise InvalidInput("a turn needs a human message", code="no_human_message")
        named = tuple(_with_id(one, self.new_id("msg")) for one in messages)
        self.turn_counter += 1
        self.tail.append(Turn(thread, named, self.turn_counter))
        if receipt is not None:
            self.receipts[receipt] = texts
        if defer:
            return []
        sealed = self.seal(thread)
        for block in sealed:
            self.derive(block)
        return sealed

    def seal(self, thread: str | None) -> list[Block]:
        own = [turn for turn in self.tail if turn.thread == thread]
        before = [block for block in self.blocks if block.thread == thread]
        done = before[-1].last_turn if before else 0
        sealed = []
        for seal in sealing.plan_seals(len(own), sealed_turns=done, block_turn_size=self.size):
            turns = own[seal.first_turn - done - 1 : seal.last_turn - done]
            self.tail = [turn for turn in self.tail if turn not in turns]
            messages = tuple(message for turn in turns for message in turn.messages)
            block = Block(
                id=self.new_id("blk"),
                thread=thread,
                sequence=len(self.blocks) + 1,
                first_turn=seal.first_turn,
                last_turn=seal.last_turn,
                messages=messages,
                created_at=messages[-1].occurred_at or self.now,
                namespace_turn=turns[-1].namespace_turn,
                anchor_position=len(before) + len(sealed) + 1,
            )
            self.blocks.append(block)
            sealed.append(block)
        return sealed

    def resume(self, *, forced: bool = False) -> list[Block]:
        for thread in dict.fromkeys(turn.thread for turn in self.tail):
            self.seal(thread)
        worked = [block for block in self.blocks if not block.is_ready]
        for block in worked:
            self.derive(block, forced=forced)
        return [block for block in worked if block.is_ready]

    def retry_summary(self, block_id: str) -> None:
        block = self.block(block_id)
        if block.is_ready:
            raise Conflict(f"Block {block_id} is already ready")
        block.summarize = Work(jobs.JobKind.SUMMARIZE)
        self.derive(block)

    def derive(self, block: Block, *, forced: bool = False) -> None:
        """Summarise, then extract, as far as the jobs are due; mark ready what is complete."""
        if block.head is None and self._run(
            block.summarize, lambda: self._summarise(block), forced
        ):
            block.summarize.state = jobs.JobState.SUCCEEDED
        if block.head is None or block.is_ready:
            return
        needs_events = block.head.should_extract
        if not needs_events or self._run(block.extract, lambda: self._extract(block), forced):
            self._mark_ready(block)

    def ready(self, thread: str | None) -> list[Block]:
        live = (block for block in self.blocks if block.is_ready and not block.is_undone)
        return [block for block in live if block.thread == thread]

    def standing(self, block: Block) -> tuple[int, int]:
        """Return the block's age and level now."""
        mates = self.ready(block.thread)
        own = mates.index(block) + 1
        level = decay.level_at(
            block.anchor_level,
            block.anchor_position,
            latest_position=len(mates),
            decay_lambda=self.decay_lambda,
        )
        return decay.age_in_blocks(own, len(mates)), level

    def expand(self, block_id: str, target: object = None, by: str = "agent") -> Block:
        block = self.block(block_id)
        if not block.is_ready:
            raise Conflict(f"Block {block_id} is not ready")
        block.anchor_level = decay.expansion_level(target, self.standing(block)[1])
        block.anchor_position = len(self.ready(block.thread))
        block.lifted_by = by
        return block

    def block(self, block_id: str) -> Block:
        found = next((block for block in self.blocks if block.id == block_id), None)
        if found is None:
            raise NotFound(f"Unknown block: {block_id}")
        return found

    def tail_texts(self) -> list[str]:
        return [message.content for turn in self.tail for message in turn.messages]

    def _run(self, work: Work, think: Callable[[], jobs.JobState], forced: bool) -> bool:
        if not work.is_due(self.now, forced=forced):
            return False
        work.attempt, work.error, work.next_at = work.attempt + 1, None, None
        try:
            work.state = think()
        except (ModelDown, InvalidSummary, UnreadableReply) as error:
            work.fail(error, self.now)
            return False
        return True

    def _summarise(self, block: Block) -> jobs.JobState:
        said = [[message.role.value, message.content] for message in block.messages]
        reply = self._answer("summarizer", said)
        fields = {
            "title": reply["l0Title"],
            "tags": reply["l0Tags"],
            "summary": reply["l1Summary"],
            "keypoints": reply["l2Keypoints"],
            "should_extract": reply["shouldExtract"],
        }
        block.head = validate_summary(fields, has_content=bool(said))
        return jobs.JobState.SUCCEEDED

    def _extract(self, block: Block) -> jobs.JobState:
        timeline = self.events.latest_first()
        self.seen.append(
            {
                "previous": self._neighbour(block, reversed(self.blocks[: block.sequence - 1])),
                "next": self._neighbour(block, iter(self.blocks[block.sequence :])),
                "timeline": timeline,
            }
        )
        reply = self._answer("extractor", block.id)
        offered = frozenset(timeline)
        try:
            extraction = validate_extraction(reply, ExtractionContext(block.messages, offered))
        except UnreadableReply:
            if reply.get("events"):  # the trace's later ids count the events it did take
                self.new_id("evt"), self.new_id("proj")
            raise
        if not extraction.should_extract:
            return jobs.JobState.SUCCEEDED_EMPTY
        for draft in extraction.events:
            self.events.add(draft, block.id, formed_turn=block.namespace_turn, offered=offered)
        self.new_id("proj")
        return jobs.JobState.SUCCEEDED

    def _neighbour(self, block: Block, others: Iterator[Block]) -> str | None:
        return next((one.id for one in others if one.thread == block.thread and one.head), None)

    def _mark_ready(self, block: Block) -> None:
        block.anchor_position = len(self.ready(block.thread)) + 1
        block.anchor_level, block.is_ready = decay.DEEPEST, True


def _name(given: Mapping[str, Any], key: str) -> str | None:
    if key not in given:
        return None
    if not given[key].strip():
        raise InvalidInput.at(f"/{key}", "must not be blank")
    name: str = given[key].strip()
    return name


def _with_id(message: Message, id_: str) -> Message:
    return Message(
        id=id_,
        role=message.role,
        content=message.content,
        occurred_at=message.occurred_at,
        thread_id=message.thread_id,
    )
