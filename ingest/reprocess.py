"""Batch re-derivation: build a version beside the live one, compare, switch to it or drop it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shared.domain.event_diff import EventDiff
from shared.domain.graph_diff import Change, Difference
from shared.domain.jobs import JobKind
from shared.domain.redaction import redact
from shared.domain.reprocessing import Reprocess, first_kind
from shared.domain.spend import RunEstimate, estimate_run
from shared.domain.tenancy import Caller
from shared.errors import Conflict
from shared.limits import check_new_work
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import ReadTx, WriteTx
from shared.store.derivation_locks import await_projection
from shared.store.graph import ensure_live_version, live_version
from shared.store.graph_versions import (
    GraphVersion,
    begin_shadow,
    count_contents,
    find_shadow,
    find_version,
    remove_contents,
    set_state,
)
from shared.store.namespaces import get_namespace, policy_defaults
from shared.store.run_costs import step_costs
from shared.store.version_blocks import (
    Progress,
    cancel_backfill,
    progress_of,
    stuck_blocks,
)
from shared.store.version_building import enlist, take_in
from shared.store.version_costs import material_of
from shared.store.version_reports import event_difference, graph_difference
from shared.store.version_switch import switch_version

_SHOWN = 200


def start_reprocess(
    tx: WriteTx, caller: Caller, namespace: str, *, asked: Reprocess, settings: Settings
) -> dict[str, Any]:
    """Begin a version beside the live one, or join the one that the same request began.

    Conflict `reprocess_running` while a version for another request waits or is built, and
    `stage_off` when the policy has switched a stage of it off. NotFound without such a namespace,
    TooMany (`quota_jobs`) while the tenant has as many jobs under way as it may.
    """
    row = get_namespace(tx, namespace, defaults=policy_defaults(settings))
    for kind in asked.stages:
        if not getattr(row.policy.stages, kind.value, True):
            raise Conflict(f"the policy has switched '{kind.value}' off", code="stage_off")
    check_new_work(tx, settings)
    await_projection(tx, namespace)
    ensure_live_version(tx, namespace)
    version = find_shadow(tx, namespace)
    joined = version is not None
    if version is not None and version.request != asked.as_request():
        raise Conflict(
            f"{version.graph_version_id} is there for another request: switch to it or drop it",
            code="reprocess_running",
        )
    if version is None:
        anew = first_kind(asked.stages) is not JobKind.PROJECT
        version = begin_shadow(tx, namespace, new_derivation=anew, request=asked.as_request())
    attempts = settings.max_attempts
    blocks = stuck_blocks(tx, version.graph_version_id) if joined else []
    enlist(tx, version, blocks, max_attempts=attempts)
    blocks += take_in(tx, version, max_attempts=attempts)
    _audit(tx, caller, "reprocess_started", version, {"jobs": len(blocks), "joined": joined})
    budget = row.policy.token_budget
    materials = material_of(tx, version, asked, blocks)
    estimate = estimate_run(
        materials,
        step_costs(tx, namespace, materials),
        input_tokens_a_call=settings.model_input_tokens,
        budget=budget,
    )
    return {
        "graph_version_id": version.graph_version_id,
        "stages": [kind.value for kind in asked.stages],
        "jobs": len(blocks),
        "joined": joined,
        "estimate": _estimate_view(estimate),
    }


def switch_to(
    tx: WriteTx,
    caller: Caller,
    namespace: str,
    graph_version_id: str,
    *,
    accept_failed: bool,
    settings: Settings,
) -> dict[str, Any]:
    """Make a version the live one; Conflicts as `switch_version` has them."""
    switched = switch_version(
        tx,
        namespace,
        graph_version_id,
        max_attempts=settings.max_attempts,
        accept_failed=accept_failed,
    )
    version = switched.version
    if switched.is_new:
        detail = {"from": switched.previous_id, "enqueued": switched.enqueued_blocks}
        _audit(tx, caller, "graph_version_switched", version, detail)
    return {
        "graph_version_id": version.graph_version_id,
        "previous_graph_version_id": switched.previous_id,
        "derivation_version": version.derivation_version,
        "switched": switched.is_new,
        "enqueued": switched.enqueued_blocks,
    }


def drop_version(
    tx: WriteTx, caller: Caller, namespace: str, graph_version_id: str
) -> dict[str, Any]:
    """Remove a version that is not live; Conflict `version_live` for the live one."""
    await_projection(tx, namespace)
    version = find_version(tx, namespace, graph_version_id, for_update=True)
    if version.state == "live":
        raise Conflict("the live version cannot be dropped", code="version_live")
    cancelled = 0
    if version.state != "dropped":
        cancelled = cancel_backfill(tx, graph_version_id, reason="version_dropped")
        remove_contents(tx, version)
        set_state(tx, graph_version_id, "dropped")
        _audit(tx, caller, "graph_version_dropped", version, {"cancelled_jobs": cancelled})
    return {"graph_version_id": graph_version_id, "cancelled_jobs": cancelled}


def version_views(tx: ReadTx, versions: Sequence[GraphVersion]) -> list[dict[str, Any]]:
    """Return versions as the API shows them, with progress and counts."""
    ids = [one.graph_version_id for one in versions]
    progress, counts = progress_of(tx, ids), count_contents(tx, ids)
    return [
        _version_view(one, progress[one.graph_version_id], counts[one.graph_version_id])
        for one in versions
    ]


def diff_view(tx: ReadTx, namespace: str, graph_version_id: str) -> dict[str, Any]:
    """Return what readers would see change by a switch; `version_dropped` for a dropped one."""
    version = find_version(tx, namespace, graph_version_id)
    if version.state == "dropped":
        raise Conflict("this version was dropped", code="version_dropped")
    live_id = live_version(tx, namespace)
    live = None if live_id is None else find_version(tx, namespace, live_id)
    graph = graph_difference(tx, live, version)
    events = EventDiff(0, (), (), ())
    if live is not None:
        events = event_difference(tx, live, version)
    return {
        "graph_version_id": graph_version_id,
        "compared_with": live_id,
        "nodes": _difference_view(graph.nodes),
        "facts": _difference_view(graph.facts),
        "edges": _difference_view(graph.edges),
        "events": _difference_view(_as_difference(events)),
    }


def _as_difference(found: EventDiff) -> Difference:
    return Difference(
        added=tuple(Change(one.event_id, None, one.title) for one in found.added),
        changed=tuple(
            Change(one.after.event_id, one.before.title, one.after.title) for one in found.changed
        ),
        gone=tuple(Change(one.event_id, one.title, None) for one in found.gone),
        same=found.carried,
    )


def _difference_view(found: Difference) -> dict[str, Any]:
    parts = {"added": found.added, "changed": found.changed, "gone": found.gone}
    return {
        **{name: len(changes) for name, changes in parts.items()},
        "same": found.same,
        "items": {
            name: [_change_view(one) for one in changes[:_SHOWN]] for name, changes in parts.items()
        },
    }


def _change_view(change: Change) -> dict[str, str | None]:
    before = None if change.before is None else redact(change.before)
    after = None if change.after is None else redact(change.after)
    return {"subject": redact(change.subject), "before": before, "after": after}


def _version_view(
    version: GraphVersion, progress: Progress, counts: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "graph_version_id": version.graph_version_id,
        "state": version.state,
        "derivation_version": version.derivation_version,
        "request": dict(version.request),
        "progress": {
            "total": progress.total,
            "done": progress.done,
            "waiting": progress.waiting,
            "failed": progress.failed,
        },
        "is_whole": version.state != "dropped" and progress.done == progress.total,
        "counts": dict(counts),
        "created_at": version.created_at.isoformat(),
        "switched_at": version.switched_at and version.switched_at.isoformat(),
    }


def _estimate_view(estimate: RunEstimate) -> dict[str, Any]:
    return {
        "steps": [
            {
                "kind": one.kind,
                "jobs": one.jobs,
                "calls": one.calls,
                "input_tokens": one.input_tokens,
                "output_tokens": one.output_tokens,
            }
            for one in estimate.steps
        ],
        "jobs": estimate.jobs,
        "tokens": estimate.tokens,
        "days": estimate.days,
    }


def _audit(
    tx: WriteTx, caller: Caller, action: str, version: GraphVersion, detail: Mapping[str, Any]
) -> None:
    entry = AuditEntry(
        action,
        key_id=caller.key_id,
        namespace=version.namespace,
        subject=version.graph_version_id,
        detail=detail,
    )
    record(tx, entry)
