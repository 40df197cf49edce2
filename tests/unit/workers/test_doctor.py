from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.settings import QUEUES
from shared.store.job_samples import Dead, Due, LedgerHealth, Waiting
from workers.doctor import Finding, Seen, VectorsSeen, examine

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WELL = LedgerHealth(
    due=(Due("summarize", 3, 12.0, 0),),
    waiting=(),
    dead=(),
    unrung=0,
    unrung_oldest_s=0.0,
    leases_expired_last_hour=0,
    leases_unrescued=0,
)
SEEN = Seen("0009", "0009", WELL, {queue: ["w1"] for queue in QUEUES}, oldest_allowed_s=300.0)


def _wrong(seen: Seen) -> dict[str, Finding]:
    return {finding.check: finding for finding in examine(seen) if not finding.is_ok}


def test_a_healthy_installation_has_no_finding_and_every_check_is_told() -> None:
    assert _wrong(SEEN) == {}
    assert [finding.check for finding in examine(SEEN)] == [
        "database",
        "migrations",
        "broker",
        "consumers",
        "relay",
        "upkeep",
        "oldest due job",
        "leases",
        "budget",
        "breaker",
        "dead letters",
    ]


@pytest.mark.parametrize(
    ("check", "change", "told", "remedy"),
    [
        (
            "relay",
            {"unrung": 7, "unrung_oldest_s": 95.0},
            "7 due job(s)",
            "stratagate relay",
        ),
        ("upkeep", {"leases_unrescued": 2}, "2 job(s) hold a lease", "stratagate upkeep"),
        (
            "oldest due job",
            {"due": (Due("extract", 40, 301.0, 4),)},
            "extract: 40 due, the oldest for 301 s, 4 rung and not claimed",
            "--queues extract",
        ),
        ("leases", {"leases_expired_last_hour": 3}, "3 expired", "out of memory"),
        (
            "budget",
            {"waiting": (Waiting("budget_exceeded", 53, 2, NOW),)},
            "53 job(s) of 2 namespace(s) wait (budget_exceeded) until 2026-03-02T09:00:00+00:00",
            "token_budget",
        ),
        (
            "breaker",
            {"waiting": (Waiting("breaker_open", 5, 1, NOW),)},
            "5 job(s)",
            "STRATAGATE_MODEL_BASE_URL",
        ),
        (
            "dead letters",
            {"dead": (Dead("extract", "malformed", 4, NOW), Dead("project", "http_401", 1, NOW))},
            "4 extract: malformed; 1 project: http_401",
            "stratagate dead-letters",
        ),
    ],
)
def test_what_is_wrong_in_the_ledger_is_found_alone_and_explained(
    check: str, change: dict[str, object], told: str, remedy: str
) -> None:
    wrong = _wrong(replace(SEEN, health=replace(WELL, **change)))
    assert set(wrong) == {check}
    assert told in wrong[check].found
    assert remedy in wrong[check].remedy


def test_another_schema_asks_for_migration_and_the_ledger_is_not_judged_by_it() -> None:
    wrong = _wrong(replace(SEEN, revision="0008", health=None))
    assert set(wrong) == {"migrations"}
    assert "0008" in wrong["migrations"].found
    assert "stratagate migrate" in wrong["migrations"].remedy


def test_queues_that_nobody_consumes_are_named_with_the_worker_to_start() -> None:
    consumers = {queue: ["w1"] for queue in QUEUES if queue not in ("project", "backfill")}
    wrong = _wrong(replace(SEEN, consumers=consumers))
    assert wrong["consumers"].found == "nobody consumes: project, backfill"
    assert "--queues project,backfill" in wrong["consumers"].remedy


def test_without_a_broker_its_consumers_are_not_guessed_at() -> None:
    findings = examine(replace(SEEN, consumers=None))
    assert [one.check for one in findings if not one.is_ok] == ["broker"]
    assert "consumers" not in {one.check for one in findings}


def test_without_a_database_only_that_and_the_broker_are_told() -> None:
    seen = replace(SEEN, revision=None, health=None, is_database_there=False)
    assert set(_wrong(seen)) == {"database", "migrations"}


@pytest.mark.parametrize(
    ("vectors", "told", "remedy"),
    [
        (VectorsSeen("minilm:x", "no_avx2: needs AVX2", {}), "no_avx2", "by words alone"),
        (VectorsSeen("minilm:x", None, {"openai:y (8)": 12}), "12 by openai:y", "embed --all"),
    ],
)
def test_vectors_that_cannot_be_made_or_are_of_another_model_are_told(
    vectors: VectorsSeen, told: str, remedy: str
) -> None:
    finding = _wrong(replace(SEEN, vectors=vectors))["vectors"]
    assert told in finding.found
    assert remedy in finding.remedy


def test_vectors_in_order_are_told_and_none_where_they_are_off() -> None:
    assert _wrong(replace(SEEN, vectors=VectorsSeen("minilm:x", None, {}))) == {}
    assert "vectors" not in {finding.check for finding in examine(SEEN)}
