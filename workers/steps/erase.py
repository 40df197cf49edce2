"""Erase what was selected, a page an attempt, and certify that it is gone.

Each page is one transaction that also notes where to go on, so that a killed erasure loses
nothing and repeats nothing. The attempt is given back after each page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from shared.domain.erasure import SelectorKind, Wording, certified
from shared.domain.jobs import Cancel, Done, Job, JobKind, Outcome, Snooze
from shared.errors import NotFound
from shared.store.audit import AuditEntry, record
from shared.store.database import ReadTx, WriteTx
from shared.store.erasure_certificates import certificate_of
from shared.store.erasure_locks import lock_rows
from shared.store.erasure_probe import probe
from shared.store.erasure_selection import turns_page
from shared.store.erasure_sweep import SWEPT, sweep_page
from shared.store.erasures import (
    DONE,
    Erasure,
    end_others,
    erase_sources,
    find_erasure,
    finish_erasure,
    save_progress,
    tombstones_of,
)
from shared.store.exports import withdraw_bundles
from shared.store.import_undo import show_undone
from workers.erasing import MOST_WORDS, erase_event, erase_turns
from workers.models.asking import Asker
from workers.step import Step, StepContext

PAGE: Final = 200
SWEEP_PAGE: Final = 500
LEFTOVERS: Final = 5_000
_PROBED: Final = 24
_SOURCES: Final = "sources"
_LEFT_OVER: Final = "leftovers"
_ERASING: Final = Snooze(0.0, "erasing")


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an erasure stands: its phase, the place in it, and what it has met so far."""

    phase: str = _SOURCES
    after: Any = None
    wording: Wording = field(default_factory=Wording)
    scrubbed: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Progress:
        """Read what `as_stored` wrote; an empty object is the beginning."""
        if not stored:
            return cls()
        wording = Wording(frozenset(stored["words"]), frozenset(stored["phrases"]))
        return cls(stored["phase"], stored["after"], wording, stored["scrubbed"])

    def as_stored(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        return {
            "phase": self.phase,
            "after": self.after,
            "words": sorted(self.wording.words),
            "phrases": sorted(self.wording.phrases),
            "scrubbed": dict(self.scrubbed),
        }


def load(tx: ReadTx, job: Job, _context: StepContext) -> str | Done | Cancel:
    """Return the erasure's id, unless it is over."""
    try:
        erasure = find_erasure(tx, str(job.payload["erasure_id"]))
    except NotFound:
        return Cancel("no_such_erasure")
    return Done(reason="done_before") if erasure.state == DONE else erasure.erasure_id


def think(erasure_id: str, _asker: Asker) -> str:
    """Pass the id on: nothing here asks a model."""
    return erasure_id


def store(tx: WriteTx, _job: Job, erasure_id: str, context: StepContext) -> Outcome:
    """Do the next page, or end the erasure with its certificate."""
    show_undone(tx)
    erasure = find_erasure(tx, erasure_id, lock=True)
    if erasure.state == DONE:
        return Done(reason="done_before")
    withdraw_bundles(tx, erasure.namespace)
    progress = Progress.of(erasure.progress)
    if progress.phase == _SOURCES:
        return _sources(tx, erasure, progress, context)
    if progress.phase == _LEFT_OVER:
        return _leftovers(tx, erasure, progress)
    return _sweep(tx, erasure, progress)


def _sources(tx: WriteTx, erasure: Erasure, progress: Progress, context: StepContext) -> Outcome:
    selector = erasure.selector or ""
    if erasure.kind is SelectorKind.EVENT:
        page, last = erase_event(tx, erasure, selector, now=context.now), None
    else:
        after = None if progress.after is None else (progress.after[0], int(progress.after[1]))
        turns = turns_page(tx, erasure.namespace, erasure.kind, selector, after=after, limit=PAGE)
        if not turns:
            return _sources_end(tx, erasure, progress)
        attempts = context.settings.max_attempts
        page = erase_turns(tx, erasure, turns, now=context.now, max_attempts=attempts)
        last = [turns[-1].thread_id, turns[-1].sequence]
    wording = progress.wording.joined(page.wording, most=MOST_WORDS)
    met = replace(progress, after=last, wording=wording)
    if last is None:
        met = replace(met, phase=SWEPT[0], after="")
    save_progress(tx, erasure, page.counts, met.as_stored())
    return _ERASING


def _sources_end(tx: WriteTx, erasure: Erasure, progress: Progress) -> Outcome:
    counts: dict[str, int] = {}
    phase, after = SWEPT[0], ""
    if erasure.kind is SelectorKind.THREAD:
        thread_ids = [erasure.selector or ""]
        lock_rows(tx, erasure.namespace, event_ids=[], block_ids=[], thread_ids=thread_ids)
        counts = erase_sources(tx, erasure.erasure_id, {"thread": erasure.selector})
    elif erasure.kind is SelectorKind.NAMESPACE:
        phase = _LEFT_OVER
    save_progress(tx, erasure, counts, replace(progress, phase=phase, after=after).as_stored())
    return _ERASING


def _sweep(tx: WriteTx, erasure: Erasure, progress: Progress) -> Outcome:
    what = progress.phase
    page = sweep_page(
        tx,
        erasure.namespace,
        erasure.erasure_id,
        what=what,
        wording=progress.wording,
        after=progress.after,
        limit=SWEEP_PAGE,
    )
    scrubbed = {**progress.scrubbed, what: progress.scrubbed.get(what, 0) + page.scrubbed}
    met = replace(progress, after=page.after, scrubbed=scrubbed)
    if page.after is None:
        following = SWEPT[SWEPT.index(what) + 1 :]
        if not following:
            return _end(tx, erasure, met)
        met = replace(met, phase=following[0], after="")
    save_progress(tx, erasure, {}, met.as_stored())
    return _ERASING


def _leftovers(tx: WriteTx, erasure: Erasure, progress: Progress) -> Outcome:
    """Take what the namespace still holds; it goes itself when that is nothing any more."""
    counts = erase_sources(tx, erasure.erasure_id, {"namespace": LEFTOVERS})
    if counts:
        save_progress(tx, erasure, counts, progress.as_stored())
        return _ERASING
    end_others(tx, erasure)
    return _end(tx, erasure, progress)


def _end(tx: WriteTx, erasure: Erasure, progress: Progress) -> Done:
    words = progress.wording.probes(_PROBED)
    hits = probe(tx, erasure.namespace, words)
    facts = certified(
        {**erasure.counts},
        tombstones_of(tx, erasure.erasure_id),
        {"terms": len(words), "hits": hits},
        scrubbed=progress.scrubbed,
    )
    finish_erasure(tx, erasure.erasure_id, certificate_of(tx, erasure, facts))
    record(
        tx,
        AuditEntry(
            "erasure_finished",
            key_id=erasure.key_id,
            namespace=erasure.namespace,
            subject=erasure.erasure_id,
            detail={"counts": dict(erasure.counts)},
        ),
    )
    return Done(result={"erasure_id": erasure.erasure_id, "counts": dict(erasure.counts)})


STEP: Final = Step(JobKind.ERASE, None, load, think, store)
