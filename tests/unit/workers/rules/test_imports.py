"""What the rules make of imported candidates and of texts that are no export."""

from __future__ import annotations

import pytest

from shared.domain.events import EventTime
from shared.domain.external_memory import Candidate
from workers.models.inputs import ImportDecideInput, ImportMatch, ImportRecoverInput
from workers.models.rules.import_decide import decide_import
from workers.models.rules.import_recover import recover_import


def match(summary: str, event_id: str = "evt_a") -> ImportMatch:
    return ImportMatch(event_id, summary.rstrip("."), summary, "active", EventTime(None))


@pytest.mark.parametrize(
    ("said", "known", "action", "is_sure"),
    [
        ("Plays the cello on Sundays.", "Plays the cello on Sundays", "IGNORE", True),
        ("Has a tortoise.", "Has a tortoise called Tilly, who is nine.", "IGNORE", True),
        ("Has a tortoise called Tilly and a cat called Tom.", "Has a tortoise.", "MERGE", True),
        ("Has no tortoise.", "Has a tortoise.", "CONFLICT", False),
        ("Pays 900 euros of rent.", "Pays 750 euros of rent.", "SUPERSEDE", False),
        ("Lives in Bergen with Ida.", "Lives in Oslo with Ida.", "SUPERSEDE", False),
        ("Likes stone tiles.", "Works at Acme as a nurse.", "ADD", True),
        ("喜欢喝红茶。", "喜欢喝红茶", "IGNORE", True),
    ],
)
def test_likeness_decides_and_other_values_leave_it_to_a_person(
    said: str, known: str, action: str, is_sure: bool
) -> None:
    candidate = Candidate(said.rstrip(".。"), said)
    reply = decide_import(ImportDecideInput(candidate, (match(known),)))
    assert reply["action"] == action
    assert (float(str(reply["confidence"])) >= 0.85) is is_sure


def test_the_likest_event_is_named_and_nothing_else() -> None:
    candidate = Candidate("Has no tortoise", "Has no tortoise.")
    known = (match("Works at Acme.", "evt_a"), match("Has a tortoise.", "evt_b"))
    assert decide_import(ImportDecideInput(candidate, known))["existingEventIds"] == ["evt_b"]
    assert decide_import(ImportDecideInput(candidate, ()))["action"] == "ADD"


def test_whole_pairs_of_a_cut_off_export_are_taken_and_the_broken_one_left() -> None:
    text = (
        '{"candidates": [{"title": "Likes tea", "tags": ["drink"], "summary": "Likes \\"green\\"'
        ' tea."}, {"title": "Works", "summary": "Works at'
    )
    found = recover_import(ImportRecoverInput(text))
    assert found == {"candidates": [{"title": "Likes tea", "summary": 'Likes "green" tea.'}]}


def test_plain_notes_give_a_candidate_a_line_and_syntax_none() -> None:
    text = "What I know:\n- likes hiking\n2. works in Oslo\n}\n---\n喜欢红茶\nok"
    found = recover_import(ImportRecoverInput(text))["candidates"]
    assert isinstance(found, list)
    assert [one["summary"] for one in found] == ["likes hiking", "works in Oslo", "喜欢红茶"]


def test_nothing_readable_gives_nothing() -> None:
    assert recover_import(ImportRecoverInput("{[}] {{")) == {"candidates": []}
