"""What is wrong with a running installation, why, and what helps: a rule a check, no I/O.

`examine` is given what was seen of database, ledger and broker; each finding names its remedy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.spend import BUDGET_EXCEEDED
from shared.settings import QUEUES
from shared.store.job_samples import LedgerHealth

CIRCUIT_OPEN: Final = "breaker_open"
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: what was found, and for what is wrong the remedy."""

    check: str
    is_ok: bool
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class VectorsSeen:
    """The embedder that the settings name, why it cannot be used, and how many vectors of other
    models are stored, by model.
    """

    model: str
    wrong: str | None
    others: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen; None stands for what could not be looked at.

    `consumers` gives the names of the workers on each queue, None when the broker is away.
    """

    revision: str | None
    expected_revision: str
    health: LedgerHealth | None
    consumers: Mapping[str, Sequence[str]] | None
    oldest_allowed_s: float
    is_database_there: bool = True
    vectors: VectorsSeen | None = None


def examine(seen: Seen) -> list[Finding]:
    """Return a finding for each check, in the order in which to mend."""
    findings = [_database(seen), _migrations(seen), _broker(seen)]
    if seen.consumers is not None:
        findings.append(_consumers(seen.consumers))
    if seen.health is not None:
        findings += _ledger(seen.health, seen)
    if seen.vectors is not None:
        findings.append(_vectors(seen.vectors))
    return findings


def _ledger(health: LedgerHealth, seen: Seen) -> Iterator[Finding]:
    yield _relay(health)
    yield _upkeep(health)
    yield _oldest_due(health, seen)
    yield _leases(health)
    yield _waiting(
        health,
        BUDGET_EXCEEDED,
        "budget",
        "raise token_budget (PATCH the namespace's policy) or STRATAGATE_TENANT_TOKEN_BUDGET; "
        "GET /v1/usage tells what was spent; turns are accepted all the while",
    )
    yield _waiting(
        health,
        CIRCUIT_OPEN,
        "breaker",
        "the model's provider failed several times in a row: check its status, "
        "STRATAGATE_MODEL_BASE_URL and the key; jobs go on by themselves",
    )
    yield _dead(health)


def _database(seen: Seen) -> Finding:
    if seen.is_database_there:
        return Finding("database", True, "answers")
    return Finding(
        "database",
        False,
        "cannot be reached",
        "start Postgres, or correct STRATAGATE_DATABASE_URL; nothing else can be told without it",
    )


def _migrations(seen: Seen) -> Finding:
    if not seen.is_database_there:
        return Finding("migrations", False, "unknown while the database is away", "see above")
    if seen.revision == seen.expected_revision:
        return Finding("migrations", True, f"at {seen.revision}")
    return Finding(
        "migrations",
        False,
        f"the database is at {seen.revision or 'nothing'}, this version expects "
        f"{seen.expected_revision}",
        "run `stratagate migrate` with this version, before its services start",
    )


def _broker(seen: Seen) -> Finding:
    if seen.consumers is not None:
        return Finding("broker", True, "answers")
    return Finding(
        "broker",
        False,
        "cannot be reached: no job is rung, turns are still accepted",
        "start Redis, or correct STRATAGATE_BROKER_URL; jobs are rung by themselves afterwards",
    )


def _consumers(consumers: Mapping[str, Sequence[str]]) -> Finding:
    silent = [queue for queue in QUEUES if not consumers.get(queue)]
    if not silent:
        workers = {name for names in consumers.values() for name in names}
        return Finding("consumers", True, f"{len(workers)} worker(s) serve every queue")
    return Finding(
        "consumers",
        False,
        f"nobody consumes: {', '.join(silent)}",
        f"start a worker: `stratagate worker --queues {','.join(silent)}`",
    )


def _relay(health: LedgerHealth) -> Finding:
    if not health.unrung:
        return Finding("relay", True, "rings what is due")
    return Finding(
        "relay",
        False,
        f"{health.unrung} due job(s) were never rung, the oldest waits for "
        f"{health.unrung_oldest_s:.0f} s",
        "start `stratagate relay`; if it runs, its log says whether the broker refuses",
    )


def _upkeep(health: LedgerHealth) -> Finding:
    if not health.leases_unrescued:
        return Finding("upkeep", True, "no lease has run out unseen")
    return Finding(
        "upkeep",
        False,
        f"{health.leases_unrescued} job(s) hold a lease that ran out and nobody freed them",
        "start `stratagate upkeep`; it frees them at its first pass",
    )


def _oldest_due(health: LedgerHealth, seen: Seen) -> Finding:
    late = [due for due in health.due if due.oldest_s > seen.oldest_allowed_s]
    if not late:
        oldest = max((due.oldest_s for due in health.due), default=0.0)
        return Finding("oldest due job", True, f"waits for {oldest:.0f} s")
    told = "; ".join(
        f"{due.queue}: {due.count} due, the oldest for {due.oldest_s:.0f} s"
        + (f", {due.unclaimed} rung and not claimed" if due.unclaimed else "")
        for due in late
    )
    return Finding(
        "oldest due job",
        False,
        told,
        "mend what is wrong above first; else the workers are too few: raise --concurrency, or "
        f"start another `stratagate worker --queues {','.join(due.queue for due in late)}`",
    )


def _leases(health: LedgerHealth) -> Finding:
    number = health.leases_expired_last_hour
    if not number:
        return Finding("leases", True, "none expired in the last hour")
    return Finding(
        "leases",
        False,
        f"{number} expired in the last hour: workers died or hung within a step",
        "look for SIGKILL and out of memory at the workers; their jobs were freed by themselves",
    )


def _waiting(health: LedgerHealth, reason: str, check: str, remedy: str) -> Finding:
    waiting = next((one for one in health.waiting if one.reason == reason), None)
    if waiting is None:
        return Finding(check, True, "holds nothing back")
    resumes = waiting.resumes_at.isoformat(timespec="seconds")
    found = (
        f"{waiting.count} job(s) of {waiting.namespaces} namespace(s) wait ({reason}) "
        f"until {resumes}"
    )
    return Finding(check, False, found, remedy)


def _dead(health: LedgerHealth) -> Finding:
    if not health.dead:
        return Finding("dead letters", True, "none")
    shown = "; ".join(f"{one.count} {one.kind}: {one.code}" for one in health.dead[:_SHOWN])
    more = len(health.dead) - _SHOWN
    return Finding(
        "dead letters",
        False,
        shown + (f"; and {more} more kinds" if more > 0 else ""),
        "`stratagate dead-letters` says why and what helps, `stratagate jobs retry JOB…` retries",
    )


def _vectors(seen: VectorsSeen) -> Finding:
    if seen.wrong is not None:
        return Finding(
            "vectors",
            False,
            f"cannot be made: {seen.wrong}",
            "mend what it names, or set STRATAGATE_EMBEDDINGS_PROVIDER=none; searches go on by "
            "words alone",
        )
    if seen.others:
        counted = ", ".join(f"{count} by {model}" for model, count in seen.others.items())
        return Finding(
            "vectors",
            False,
            f"{counted}; the current model is {seen.model}",
            "run `stratagate embed --all`: other models' vectors are not compared",
        )
    return Finding("vectors", True, f"by {seen.model}")
