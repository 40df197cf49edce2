"""One part of an import: a candidate to be decided, or a broken text to be read (D26, D36).

Each candidate is a job of its own, so a worker that dies repeats only that one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.budget import estimate_tokens, split_text
from shared.domain.external_memory import MAX_CANDIDATES, Candidate
from shared.domain.external_memory_decide import (
    Decision,
    normalise_decision,
    repeated,
    settle_repeated,
    undecided,
)
from shared.domain.external_memory_parse import parse_recovered
from shared.domain.external_memory_progress import StoredState
from shared.domain.external_memory_stored import (
    candidate_from_json,
    candidate_to_json,
    decision_to_json,
    redacted_candidate,
    redacted_decision,
)
from shared.domain.jobs import Cancel, Done, FollowUp, Job, JobKind, JobState, Outcome
from shared.domain.model_json import MalformedReply, UnreadableReply
from shared.domain.redaction import redact
from shared.errors import NotFound
from shared.store.database import ReadTx, WriteTx
from shared.store.events import hash_fingerprint, same_fingerprint
from shared.store.imports import (
    ImportRow,
    add_candidates,
    change_import,
    count_undecided,
    get_candidate,
    get_import,
    lock_import,
    save_decision,
    subject_of,
)
from workers.import_material import (
    kept_with_decision,
    matches_of,
    said_already,
    shown_to_model,
)
from workers.models.asking import Asker, Checked
from workers.models.inputs import ImportDecideInput, ImportRecoverInput
from workers.models.port import ModelTask, TaskKind
from workers.prompts import import_decide, import_recover
from workers.step import SOURCE_ERASED, CallLimits, Step, StepContext, call_limits, part_budget

NOTHING_RECOVERED: Final = "nothing_recovered"
IMPORT_ENDED: Final = Cancel("import_ended")
ALREADY_DECIDED: Final = "already_decided"
UNREADABLE: Final = "unreadable_decision"
_OPEN: Final = (StoredState.EXTRACTING, StoredState.PROCESSING)


@dataclass(frozen=True, slots=True)
class CandidateToDecide:
    """A candidate with its matches; `twin` says the same word for word and settles it."""

    material: ImportDecideInput
    kept: Sequence[Mapping[str, Any]]
    limits: CallLimits
    twin: str | None
    is_recovered: bool
    is_last_attempt: bool


@dataclass(frozen=True, slots=True)
class TextToRead:
    """A broken text in parts that fit one call each (D39)."""

    parts: tuple[ImportRecoverInput, ...]
    limits: CallLimits


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision with what its decider was shown. `is_read` false: the reply made no sense."""

    decision: Decision
    kept: Sequence[Mapping[str, Any]]
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was found in a broken text."""

    candidates: tuple[Candidate, ...]


def load(
    tx: ReadTx, job: Job, context: StepContext
) -> CandidateToDecide | TextToRead | Done | Cancel:
    """Read the candidate and what resembles it, or the text."""
    try:
        row = get_import(tx, str(job.payload["import_id"]))
    except NotFound:
        return SOURCE_ERASED
    if row.state not in _OPEN:
        return IMPORT_ENDED
    position = job.payload.get("position")
    if position is None:
        return _text_to_read(row, job, context)
    stored = get_candidate(tx, row.import_id, int(position))
    candidate = None if stored is None else candidate_from_json(stored.candidate)
    if stored is None or candidate is None:
        return SOURCE_ERASED
    if stored.decision is not None:
        return Done(reason=ALREADY_DECIDED)
    version = context.derivation_version
    found = matches_of(tx, row.namespace, candidate, top_k=row.top_k, version=version)
    limits = call_limits(job, context)
    return CandidateToDecide(
        material=ImportDecideInput(
            candidate,
            shown_to_model(found),
            language=context.policy.language,
            cuts=limits.cuts,
        ),
        kept=kept_with_decision(found),
        limits=limits,
        twin=said_already(tx, row.namespace, candidate, version=version),
        is_recovered=row.is_recovered,
        is_last_attempt=job.attempt >= job.max_attempts,
    )


def think(loaded: CandidateToDecide | TextToRead, asker: Asker) -> Decided | Recovered:
    """Ask the decider, or the reader of each part.

    A decision that is malformed in the last attempt waits for a person.
    """
    if isinstance(loaded, TextToRead):
        found = [one for part in loaded.parts for one in _recover(part, loaded.limits, asker)]
        unique = {one.fingerprint: one for one in reversed(found)}
        return Recovered(tuple(reversed(unique.values()))[:MAX_CANDIDATES])
    if loaded.twin is not None and not loaded.is_recovered:
        return Decided(repeated(loaded.twin), loaded.kept)
    try:
        return Decided(redacted_decision(_decide(loaded, asker)), loaded.kept)
    except UnreadableReply:
        if not loaded.is_last_attempt:
            raise
        return Decided(undecided("the decider's reply could not be read"), loaded.kept, False)


def store(tx: WriteTx, job: Job, draft: Decided | Recovered, context: StepContext) -> Outcome:
    """Keep the decision; the last one of an import makes it ready for confirmation."""
    try:
        row = lock_import(tx, str(job.payload["import_id"]))
    except NotFound:
        return SOURCE_ERASED
    if row.state not in _OPEN:
        return IMPORT_ENDED
    if isinstance(draft, Recovered):
        return _store_recovered(tx, row, draft, context)
    save_decision(
        tx,
        row.import_id,
        int(job.payload["position"]),
        decision=decision_to_json(draft.decision),
        matches=draft.kept,
    )
    if count_undecided(tx, row.import_id) == 0:
        change_import(tx, row.import_id, state=StoredState.DECIDED.value)
    told = {"action": draft.decision.action.value, "confidence": draft.decision.confidence}
    if not draft.is_read:
        return Done(JobState.DEGRADED, UNREADABLE, told)
    return Done(result=told)


def _store_recovered(
    tx: WriteTx, row: ImportRow, draft: Recovered, context: StepContext
) -> Outcome:
    if row.state is not StoredState.EXTRACTING:
        return Done(reason=ALREADY_DECIDED)
    if not draft.candidates:
        return Done(JobState.DEGRADED, NOTHING_RECOVERED, {"candidates": 0})
    known = same_fingerprint(
        tx,
        row.namespace,
        [one.fingerprint for one in draft.candidates],
        version=context.derivation_version,
    )
    settled = settle_repeated(
        draft.candidates,
        {key: event.event_id for key, event in known.items()},
        is_recovered=True,
    )
    add_candidates(
        tx,
        row.import_id,
        [
            {
                "candidate": candidate_to_json(candidate),
                "fingerprint": hash_fingerprint(candidate.fingerprint),
                "decision": None if decision is None else decision_to_json(decision),
            }
            for candidate, decision in zip(draft.candidates, settled, strict=True)
        ],
    )
    open_positions = [position for position, one in enumerate(settled) if one is None]
    state = StoredState.PROCESSING if open_positions else StoredState.DECIDED
    change_import(tx, row.import_id, state=state.value, is_recovered=True, source="recovered")
    return Done(
        result={"candidates": len(draft.candidates)},
        follow_ups=tuple(
            FollowUp(
                JobKind.IMPORT,
                subject_of(row.import_id, position),
                payload={"import_id": row.import_id, "position": position},
            )
            for position in open_positions
        ),
    )


def _text_to_read(row: ImportRow, job: Job, context: StepContext) -> TextToRead:
    limits = call_limits(job, context)
    text = redact(row.content)
    pieces = list(split_text(text, part_budget(limits, estimate_tokens(text)))) or [""]
    parts = tuple(
        ImportRecoverInput(piece, number, len(pieces), context.policy.language, limits.cuts)
        for number, piece in enumerate(pieces, start=1)
    )
    return TextToRead(parts, limits)


def _recover(part: ImportRecoverInput, limits: CallLimits, asker: Asker) -> Sequence[Candidate]:
    task: ModelTask[object] = ModelTask(
        kind=TaskKind.IMPORT_RECOVER,
        input=part,
        prompt=import_recover.render(part),
        reply_type=import_recover.RecoverReply,
        max_output_tokens=limits.output_tokens,
        deadline_s=limits.deadline_s,
        room=import_recover.room_of(part),
    )

    def check(reply: Mapping[str, object]) -> Checked[tuple[Candidate, ...]]:
        if not isinstance(reply.get("candidates"), list):
            problem = "candidates must be a list"
            raise MalformedReply(problem, problems=(problem,))
        found = parse_recovered(reply).candidates
        return Checked(tuple(redacted_candidate(one) for one in found), score=len(found))

    return asker.ask(task, check, required_keys=("candidates",))


def _decide(loaded: CandidateToDecide, asker: Asker) -> Decision:
    material = loaded.material
    task: ModelTask[object] = ModelTask(
        kind=TaskKind.IMPORT_DECIDE,
        input=material,
        prompt=import_decide.render(material),
        reply_type=import_decide.DecideReply,
        max_output_tokens=loaded.limits.output_tokens,
        deadline_s=loaded.limits.deadline_s,
        room=import_decide.room_of(material),
    )
    offered = [match.event_id for match in material.matches]

    def check(reply: Mapping[str, object]) -> Checked[Decision]:
        return Checked(normalise_decision(reply, matches=offered, is_recovered=loaded.is_recovered))

    return asker.ask(task, check, required_keys=("action",))


STEP: Final[Step[CandidateToDecide | TextToRead, Decided | Recovered]] = Step(
    JobKind.IMPORT, import_decide.VERSION, load, think, store
)
