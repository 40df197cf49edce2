"""What people answer, what is kept, and where an import stands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.external_memory import Candidate, CandidateTime, normalise_candidate
from shared.domain.external_memory_answers import Answer, final_decisions
from shared.domain.external_memory_decide import Decision, ImportAction
from shared.domain.external_memory_progress import ImportStatus, StoredState, import_status
from shared.domain.external_memory_stored import (
    candidate_from_json,
    candidate_to_json,
    decision_from_json,
    decision_to_json,
    redacted_candidate,
)
from shared.domain.jobs import JobState

WORDS = st.text(min_size=1, max_size=40).filter(lambda one: bool(one.strip()))
VALUES = st.one_of(st.none(), st.integers(), st.text(max_size=20), st.lists(WORDS, max_size=3))
FILES = st.fixed_dictionaries(
    {"title": WORDS, "summary": WORDS},
    optional={
        "tags": VALUES,
        "quotes": VALUES,
        "narrative": VALUES,
        "category": st.sampled_from(["preference", "identity", "nonsense"]),
        "memoryKind": st.sampled_from(["fact", "event", 7]),
        "confidence": st.one_of(st.floats(), st.text(max_size=3)),
        "temporal": st.dictionaries(
            st.sampled_from(["mentionedAt", "happenedStart", "originalText", "precision"]), VALUES
        ),
    },
)


@given(FILES)
def test_a_candidate_that_is_kept_comes_back_as_it_was(value: dict[str, object]) -> None:
    candidate = normalise_candidate(value)
    assert candidate is not None
    assert candidate_from_json(candidate_to_json(candidate)) == candidate


def test_a_mem0_candidate_keeps_its_provenance() -> None:
    candidate = Candidate(
        "Tiles", "Prefers tiles", temporal=CandidateTime(), provenance="external:mem0:3f0"
    )
    back = candidate_from_json(candidate_to_json(candidate))
    assert back is not None
    assert back.provenance == "external:mem0:3f0"


def test_secrets_go_from_every_field_of_a_candidate() -> None:
    secret = "ghp_abcdefghijklmnop1234"
    candidate = Candidate(
        f"The token is {secret}", f"Uses {secret}", narrative=f"{secret}", tags=(secret,)
    )
    assert secret not in repr(redacted_candidate(candidate))


def test_a_decision_that_is_kept_comes_back_as_it_was() -> None:
    decision = Decision(
        ImportAction.MERGE, 0.9, False, ("evt_a",), "same", Candidate("A", "B"), "MERGE", ("3",)
    )
    assert decision_from_json(decision_to_json(decision)) == decision


def test_an_answer_overrules_a_sure_decision_and_takes_proposed_words_only_for_the_same() -> None:
    merged = Candidate("Both", "Both details.")
    sure = Decision(ImportAction.MERGE, 0.95, False, ("evt_a",), merged=merged)
    for action, words in ((ImportAction.MERGE, merged), (ImportAction.SUPERSEDE, None)):
        (final,) = final_decisions(
            [sure],
            [Answer(0, action, ("evt_b",))],
            shown=[("evt_a", "evt_b")],
            ignore_unanswered=False,
        )
        assert (final.action, final.existing_event_ids) == (action, ("evt_b",))
        assert final.merged == words


def test_an_import_fails_only_once_nothing_of_it_is_live() -> None:
    def status(*jobs: JobState) -> ImportStatus:
        return import_status(StoredState.PROCESSING, open_jobs=jobs, waits_for_person=False)

    assert status(JobState.DEAD, JobState.RETRYABLE) is ImportStatus.PROCESSING
    assert status(JobState.DEAD, JobState.CANCELLED) is ImportStatus.FAILED
    waiting = import_status(StoredState.DECIDED, open_jobs=(), waits_for_person=True)
    assert waiting is ImportStatus.AWAITING_CONFIRMATION
