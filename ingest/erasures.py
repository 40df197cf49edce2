"""Begin, watch and check erasures; the work itself is a job's (D28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shared.auth import reach
from shared.domain.erasure import SelectorKind
from shared.domain.jobs import FollowUp, JobKind
from shared.domain.tenancy import Caller
from shared.errors import InvalidInput, NotFound
from shared.ids import Prefix, check_id
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import ReadTx, WriteTx
from shared.store.erasure_certificates import (
    ERASABLE,
    CheckedThing,
    check_certificate,
    check_ids,
    check_receipts,
    exists_here,
)
from shared.store.erasure_selection import count_selected
from shared.store.erasures import (
    RUNNING,
    Erasure,
    begin_erasure,
    erasure_of,
    find_erasure,
    same_selection,
    set_job,
)
from shared.store.import_undo import show_undone
from shared.store.jobs import enqueue
from shared.store.namespaces import find_namespace, policy_defaults

_NO_ERASURE = "no such erasure"
_BY_ID = frozenset({SelectorKind.TURN, SelectorKind.EVENT})


def plan_erasure(
    tx: ReadTx, namespace: str, kind: SelectorKind, selector: str, *, settings: Settings
) -> dict[str, Any]:
    """Return what an erasure would take; NotFound when there is nothing of that name."""
    show_undone(tx)
    if not _exists(tx, namespace, kind, selector, settings=settings):
        raise NotFound("nothing of that name or id")
    return {"dry_run": True, "counts": count_selected(tx, namespace, kind, selector)}


def start_erasure(
    tx: WriteTx,
    caller: Caller,
    namespace: str,
    kind: SelectorKind,
    selector: str,
    *,
    settings: Settings,
) -> dict[str, Any]:
    """Begin an erasure, or return the one that the same selection began or that took it.

    NotFound when there is nothing of that name and never was.
    """
    show_undone(tx)
    if not _exists(tx, namespace, kind, selector, settings=settings):
        earlier = _earlier(tx, namespace, kind, selector)
        if earlier is None:
            raise NotFound("nothing of that name or id")
        return _started(earlier, earlier.counts, duplicate=True)
    counts = count_selected(tx, namespace, kind, selector)
    running = same_selection(tx, namespace, kind, selector, state=RUNNING)
    erasure = running or begin_erasure(tx, namespace, kind, selector, key_id=caller.key_id)
    work = FollowUp(JobKind.ERASE, erasure.erasure_id, payload={"erasure_id": erasure.erasure_id})
    # Also of one that runs: where a person had ended its job, it goes on where it stood.
    job_id = enqueue(tx, namespace, work, max_attempts=settings.max_attempts)
    set_job(tx, erasure.erasure_id, job_id)
    if running is None:
        entry = AuditEntry(
            "erasure_started",
            key_id=caller.key_id,
            namespace=namespace,
            subject=erasure.erasure_id,
            detail={"kind": kind.value, "counts": counts},
        )
        record(tx, entry)
    started = _started(erasure, counts, duplicate=running is not None)
    return started | {"job_id": job_id}


def one_erasure(tx: ReadTx, caller: Caller, erasure_id: str) -> Erasure:
    """Return an erasure; NotFound when there is none of that id within the key's reach."""
    erasure = find_erasure(tx, erasure_id)
    if not caller.reaches(erasure.namespace):
        raise NotFound(_NO_ERASURE)
    return erasure


def erasure_view(erasure: Erasure) -> dict[str, Any]:
    """Return an erasure as the API shows it: never what was selected, only by what."""
    return {
        "erasure_id": erasure.erasure_id,
        "namespace": erasure.namespace,
        "selector_kind": erasure.kind.value,
        "state": erasure.state,
        "job_id": erasure.job_id,
        "counts": dict(erasure.counts),
        "certificate": erasure.certificate,
        "created_at": erasure.created_at.isoformat(),
        "finished_at": erasure.finished_at and erasure.finished_at.isoformat(),
    }


def verify_erasure(
    tx: ReadTx,
    erasure: Erasure,
    *,
    ids: Sequence[str],
    receipt_ids: Sequence[str],
    certificate: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Check a certificate and things that should be gone; `valid` when all of it holds."""
    for index, one in enumerate(ids):
        prefix = one.partition("_")[0]
        if prefix not in ERASABLE:
            names = ", ".join(f"{known}_" for known in ERASABLE)
            raise InvalidInput.at(f"/ids/{index}", f"use an id of {names}", "wrong_id_type")
        check_id(one, Prefix(prefix), f"/ids/{index}")
    handed = erasure.certificate if certificate is None else certificate
    checked = check_certificate(tx, erasure, handed or {})
    things = check_ids(tx, erasure, ids)
    receipts = check_receipts(tx, erasure, receipt_ids)
    return {
        "valid": checked.is_signed
        and checked.is_complete
        and all(one.is_erased and one.is_absent for one in (*things, *receipts)),
        "signed": checked.is_signed,
        "complete": checked.is_complete,
        "ids": [_thing_view(one) for one in things],
        "receipt_ids": [_thing_view(one) for one in receipts],
    }


def require_own_namespace(caller: Caller, namespace: str, kind: SelectorKind, value: str) -> None:
    """Refuse a selector that names another namespace than the path does."""
    if kind is SelectorKind.NAMESPACE and value != namespace:
        raise InvalidInput.at(
            "/selector/namespace", "name the namespace of the path, or another path"
        )
    reach(caller, namespace)


def _exists(
    tx: ReadTx, namespace: str, kind: SelectorKind, selector: str, *, settings: Settings
) -> bool:
    if kind in (SelectorKind.NAMESPACE, SelectorKind.LABEL):
        return find_namespace(tx, namespace, defaults=policy_defaults(settings)) is not None
    return exists_here(tx, namespace, kind, selector)


def _earlier(tx: ReadTx, namespace: str, kind: SelectorKind, selector: str) -> Erasure | None:
    if kind in _BY_ID:
        found = erasure_of(tx, selector)
        return found if found is not None and found.namespace == namespace else None
    return same_selection(tx, namespace, kind, selector)


def _started(erasure: Erasure, counts: Mapping[str, int], *, duplicate: bool) -> dict[str, Any]:
    return {
        "erasure_id": erasure.erasure_id,
        "job_id": erasure.job_id,
        "state": erasure.state,
        "counts": dict(counts),
        "duplicate": duplicate,
    }


def _thing_view(one: CheckedThing) -> dict[str, Any]:
    return {"name": one.name, "erased": one.is_erased, "absent": one.is_absent}
