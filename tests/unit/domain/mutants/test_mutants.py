"""The tests of the rules fail where a rule is wrong: each planted mistake is found by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.domain.mutants.mutants import MUTANTS
from tests.unit.domain.mutants.planting import Mutant, copy_rules, plant, run_tests

ALL_PASSED, SOME_FAILED = 0, 1


def test_every_mutant_has_its_own_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_a_mutant_that_no_longer_fits_its_rule_is_told_and_not_passed_over(tmp_path: Path) -> None:
    copy_rules(tmp_path, MUTANTS[0].killer)
    with pytest.raises(ValueError, match="not exactly once"):
        plant(tmp_path, replace(MUTANTS[0], source="no such words"))


def test_without_a_mistake_every_killer_passes(tmp_path: Path) -> None:
    killers = sorted({mutant.killer for mutant in MUTANTS})
    copy_rules(tmp_path, *killers)
    run = run_tests(tmp_path, *killers)
    assert run.returncode == ALL_PASSED, run.stdout + run.stderr


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mistake_is_found(mutant: Mutant, tmp_path: Path) -> None:
    copy_rules(tmp_path, mutant.killer)
    plant(tmp_path, mutant)
    run = run_tests(tmp_path, mutant.killer)
    # Not any failure: a copy that cannot be imported or collected ends with another code.
    assert run.returncode == SOME_FAILED, f"{mutant.why}\n{run.stdout}{run.stderr}"
