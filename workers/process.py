"""What one worker process holds: its own connections and its model, built after the fork.

A pool that was opened before a fork would be one socket under two processes.
"""

from __future__ import annotations

import gc
import os
import secrets
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from shared.clock import SystemClock
from shared.domain.jobs import JobKind
from shared.settings import Settings
from shared.store.database import Database
from workers.models.registry import build_model
from workers.reprocess import aiming_steps
from workers.runner import Deps
from workers.step import Step
from workers.steps import embed, erase, export, extract, import_memory, project, summarize

STEPS: Final[Mapping[JobKind, Step[Any, Any]]] = aiming_steps(
    {
        step.kind: step
        for step in (
            summarize.STEP,
            extract.STEP,
            project.STEP,
            import_memory.STEP,
            erase.STEP,
            export.STEP,
            embed.STEP,
        )
    }
)
"""The steps that this release runs, by the kind of job."""

_OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000
_held: dict[int, Deps] = {}


def deps_of_process(
    settings: Settings,
    *,
    ring: Callable[[str, str, str], bool],
    time_limits: tuple[type[BaseException], ...] = (),
) -> Deps:
    """Return what this process holds, building it on first use and anew after a fork."""
    pid = os.getpid()
    if pid not in _held:
        _held.clear()
        _held[pid] = build_deps(settings, ring=ring, time_limits=time_limits)
    return _held[pid]


def build_deps(
    settings: Settings,
    *,
    ring: Callable[[str, str, str], bool],
    time_limits: tuple[type[BaseException], ...] = (),
) -> Deps:
    """Build what running jobs needs. Raises ModelError when the settings name no usable model."""

    @lru_cache(maxsize=64)
    def model_of(provider: str, name: str) -> Any:
        return build_model(settings, provider=provider, name=name)

    source = secrets.SystemRandom()
    return Deps(
        database=Database(settings, plans_once=True),
        model=build_model(settings),
        settings=settings,
        clock=SystemClock(),
        jitter=lambda: source.uniform(-1.0, 1.0),
        steps=STEPS,
        ring=ring,
        model_of=model_of,
        time_limits=time_limits,
    )


def spare_collector() -> None:
    """Keep what stays for good out of the collection of garbage, and collect less often.

    A job makes thousands of short-lived objects that need no collector; at Python's own threshold
    it would run dozens of times a job.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 20)


def close_process() -> None:
    """Close this process's connections."""
    held = _held.pop(os.getpid(), None)
    if held is not None:
        held.database.close()
