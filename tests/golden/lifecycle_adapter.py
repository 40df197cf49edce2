"""The lifecycle scenarios: a replayed trace, told in the form the golden file tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.domain.blocks import render_summary
from tests.golden.lifecycle_dump import (
    asked_json,
    block_json,
    context_json,
    decision_json,
    error_or_none,
    event_json,
    events_json,
    head_json,
    job_json,
    receipt_json,
    status_of,
    view_json,
    weight_json,
)
from tests.golden.lifecycle_steps import Preview, Trace

_LAST = 12
_EXPANSIONS = (
    ("expand first block to 3", ("level", "age", "label")),
    ("expand second block next", ("level", "age")),
    ("expand third block to 0", ("level", "age", "content")),
)
_ALPHA, _BETA, _GAMMA = "evt_4", "evt_6", "evt_8"


def answer(case_input: Mapping[str, Any], _data: Any) -> Any:
    """Perform one scenario; the calls it is made of tell which."""
    trace = Trace(case_input["trace"])
    calls = [entry["call"] for entry in case_input["trace"] if "call" in entry]
    if "undoExternalMemoryImport" in calls:
        return _imports(trace)
    if "recordMemoryUse" in calls:
        return _uses(trace)
    if "backoff" in case_input:
        return _backoff(trace)
    if "turns" in case_input:
        return _sealing(trace, case_input["turns"])
    if "lambda" in case_input:
        return _decay(trace)
    if "setBlockTurnSize" in calls:
        return _sizes(trace)
    if any(entry.get("model") == "extractor" for entry in case_input["trace"]):
        return _extraction(trace)
    if calls.count("new in-memory store") > 1:
        return _summaries(trace)
    return _pending(trace) if "resumePendingWork" in calls else _appends(trace)


def _sealing(trace: Trace, turns: list[Any]) -> Any:
    trace.step()
    steps = []
    for thread, text in turns:
        sealed = trace.step()
        steps.append(
            {
                "thread": thread,
                "user": text,
                "turnCounter": trace.space.turn_counter,
                "sealed": block_json(sealed[0]) if sealed else None,
                "openTail": trace.space.tail_texts(),
            }
        )
    context = {name: context_json(trace.space, [name]) for name in ("A", "B")}
    every = list(dict.fromkeys(block.thread for block in trace.space.blocks))
    return {"steps": steps, "context": {**context, "all": context_json(trace.space, every)}}


def _appends(trace: Trace) -> Any:
    trace.step()
    empty_thread, empty_receipt, bad_date = trace.step(), trace.step(), trace.step()
    trace.step()
    trace.step()
    space = trace.space
    after = {
        "turn": space.turn_counter,
        "tail": space.tail_texts(),
        "hasReceipt": "r1" in space.receipts,
    }
    trace.step()
    return {
        "emptyThread": empty_thread,
        "emptyReceipt": empty_receipt,
        "badDate": bad_date,
        "afterReplay": after,
        "emptyTextsAccepted": len(space.tail_texts()),
    }


def _sizes(trace: Trace) -> Any:
    for _ in range(5):
        trace.step()
    bad = [trace.step() for _ in range(4)]
    trace.step()
    first = trace.space
    tail = len(first.tail_texts())
    sealed = trace.step()
    sealed_json = [block_json(block) for block in sealed]
    ready = [block.id for block in first.ready("t")]
    while trace.upcoming != "new in-memory store":
        trace.step()
    blocks = [block_json(block) for block in first.blocks]
    for _ in range(5):
        trace.step()
    at_once = trace.step()
    return {
        "bad": bad,
        "tailAfterShrink": tail,
        "sealedOnResume": sealed_json,
        "ready": ready,
        "blocks": blocks,
        "appendAfterShrinkSealsOnlyOneBlock": {
            "sealed": block_json(at_once[0]),
            "tail": trace.space.tail_texts(),
        },
    }


def _backoff(trace: Trace) -> Any:
    labels = (
        "after append", "+999ms resume", "+1000ms resume", "+1999ms", "+2000ms",
        "forced resume after cap", "retry unknown", "manual retry still failing", "recovers",
        "retry ready block",
    )  # fmt: skip
    trace.step()
    told = []
    for label in labels:
        result = trace.step()
        if label in ("retry unknown", "retry ready block"):
            told.append({"label": label, "result": result})
            continue
        (block,) = trace.space.blocks
        told.append(
            {
                "label": label,
                "t": trace.entry["at"],
                "job": job_json(block.summarize),
                "blockStatus": status_of(block),
                "context": len(trace.space.ready(None)),
            }
        )
    return told


def _summaries(trace: Trace) -> Any:
    told = []
    overrides: list[Any] = [
        {"l0Title": " "}, {"l1Summary": ""}, {"l0Tags": "x"}, {"l2Keypoints": None},
        {"shouldExtract": "yes"},
    ]  # fmt: skip
    for override in overrides:
        trace.step()
        trace.step()
        (block,) = trace.space.blocks
        told.append(
            {
                "override": override,
                "job": job_json(block.summarize),
                "status": status_of(block),
            }
        )
    trace.step()
    trace.step()
    (block,) = trace.space.blocks
    levels = {
        name: render_summary(block.head, level) if block.head else None
        for name, level in (("L0", 0), ("L2", 2))
    }
    override = "empty arrays are accepted"
    told.append({"override": override, "status": status_of(block), **levels})
    return told


def _extraction(trace: Trace) -> Any:
    trace.step()
    trace.step()
    space = trace.space
    first = {"ev": events_json(space), "seen": space.seen[-1]}
    trace.step()
    supersede = {"events": events_json(space), "seen": space.seen[-1]}
    trace.step()
    foreign = [event for event in events_json(space) if event["sourceBlockId"] == "blk_13"]
    trace.step()
    asked = space.blocks[-1]
    empty = {"job": job_json(asked.extract), "status": status_of(asked)}
    trace.step()
    skipped = space.blocks[-1]
    skip = {
        "job": job_json(skipped.extract),
        "status": status_of(skipped),
        "events": len(space.events.by_id),
    }
    trace.step()
    seen = next(one for one in reversed(space.seen) if one["previous"] == "blk_13")
    return {
        "first": first,
        "supersede": supersede,
        "foreignRefsFallBackToAllMessages": foreign[0] if foreign else None,
        "requestedButEmpty": empty,
        "skip": skip,
        "pendingBlockBecomesReadyLater": {
            "order": [[b.id, status_of(b), b.anchor_position] for b in space.blocks],
            "seen": seen,
            "context": context_json(space, ["t"]),
        },
    }


def _decay(trace: Trace) -> Any:
    trace.step()
    told: list[dict[str, Any]] = []
    actions = iter(_EXPANSIONS)
    while trace:
        call = trace.upcoming
        result = trace.step()
        if call == "appendTurn":
            blocks = len(trace.space.blocks)
            if trace.upcoming == "expandBlock" and blocks < _LAST:
                action, keys = next(actions)
                view = view_json(trace.space, trace.step())
                told.append({"action": action, "result": {key: view[key] for key in keys}})
            ages, levels = _standing(trace)
            told.append({"afterBlock": blocks, "levels": levels, "ages": ages})
        elif call == "setBlockDecayLambda":
            told.append({"lambda": trace.space.decay_lambda, "levels": _standing(trace)[1]})
        else:
            told.append({"unknown": result})
    return told


def _standing(trace: Trace) -> tuple[list[int], list[int]]:
    standing = [trace.space.standing(block) for block in trace.space.ready("t")]
    return [age for age, _ in standing], [level for _, level in standing]


def _pending(trace: Trace) -> Any:
    for _ in range(5):
        trace.step()
    ready = context_json(trace.space, ["t"])
    expanded = trace.step()
    trace.step()
    return [
        {"readyOnly": ready, "expandPending": expanded},
        {"afterRecovery": context_json(trace.space, ["t"])},
    ]


def _uses(trace: Trace) -> Any:
    for _ in range(5):
        trace.step()
    space = trace.space
    shelf = space.events
    told: dict[str, Any] = {"initial": events_json(space)}
    for _ in range(9):
        trace.step()
    named = {"alpha": _ALPHA, "beta": _BETA, "gamma": _GAMMA}

    def weights() -> dict[str, float]:
        return {k: shelf.by_id[v].weight(space.turn_counter) for k, v in named.items()}

    def weight(event_id: str) -> dict[str, Any]:
        return weight_json(shelf.by_id[event_id])

    told["weightsAtTurn10"] = weights()
    trace.step()
    told["afterSearch"] = [weight(_BETA), weight(_GAMMA)]
    trace.step()
    told["afterUse"] = {"weights": weights(), "e3": weight(_GAMMA), "e1": weight(_ALPHA)}
    trace.step()
    told["replayDoesNothing"] = weight(_GAMMA)
    for key in ("replayDifferentIds", "replayDifferentOrder", "replayDifferentAudit"):
        told[key] = trace.step()
    trace.step()
    trace.step()
    told["useOfForgotten"] = {"weight": weight(_BETA), "receipt": receipt_json(space, "u2")}
    trace.step()
    told["emptyUse"] = receipt_json(space, "u3")
    trace.step()
    told["noReceiptInMemoryStillReinforces"] = {**weight(_GAMMA), "receipts": shelf.uses}
    trace.step()
    told["pinnedSupersededWeight"] = shelf.by_id[_ALPHA].weight(space.turn_counter)
    trace.step()
    told["restored"] = event_json(shelf.by_id[_BETA])
    trace.step()
    told["restoreSuperseded"] = event_json(shelf.by_id[_ALPHA])
    for key in ("unknownEvent", "duplicateId", "unknownBlock"):
        told[key] = trace.step()
    return told


def _imports(trace: Trace) -> Any:
    names = (
        "add", "add no confidence", "merge", "supersede", "conflict", "ignore",
        "target missing", "unknown action",
    )  # fmt: skip
    told: dict[str, Any] = {name: _import(trace) for name in names}
    for _ in range(3):
        trace.step()
    preview = trace.step()
    told["exactDuplicates"] = {
        "calls": len(preview.replies),
        "decisions": [list(decision_json(one).values()) for one in preview.decisions],
    }
    for _ in range(3):
        trace.step()
    keys = ("emptyText", "noDecider", "undoUnknown", "undoNormalBlock", "lengthMismatch")
    told["errors"] = {key: error_or_none(trace.step()) for key in (*keys, "staleRevision")}
    keys = ("malformed", "fallbackEmpty", "retry", "emptyList")
    told["jobs"] = {key: trace.step() for key in keys}
    return told


def _import(trace: Trace) -> dict[str, Any]:
    for _ in range(3):
        trace.step()
    preview: Preview = trace.step()
    (decision,) = preview.decisions
    space = trace.space
    before = [(one, event_json(stored)) for one, stored in space.events.by_id.items()]
    ((done, created),) = trace.step()
    untouched = [event_json(space.events.by_id[one]) == was for one, was in before]
    changed = [one for (one, _), same in zip(before, untouched, strict=True) if not same]
    block = space.blocks[-1]
    told = {
        "decision": asked_json(preview.replies[0], preview.matches),
        "preview": {**decision_json(decision), "matches": preview.matches},
        "committed": {
            "decisions": [
                {
                    "action": done.action.value,
                    "existingEventIds": list(done.existing_event_ids),
                    "created": created,
                }
            ],
            "changed": ([created] if created else [])
            + [one for one in changed if done.conflicts_with],
        },
        "events": events_json(space),
        "sourceBlock": head_json(block),
    }
    removed, restored = trace.step()
    undo = {"sourceBlockId": block.id, "removedEventIds": removed, "restoredEventIds": restored}
    live = [one.id for one in space.blocks if not one.is_undone]
    return {**told, "undo": undo, "eventsAfterUndo": events_json(space), "blocksAfterUndo": live}
