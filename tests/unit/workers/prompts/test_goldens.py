from __future__ import annotations

from dataclasses import replace

import pytest

from shared.settings import Settings
from tests.unit.workers.prompts.goldens import FOLDER, fault_of, golden_of, read
from tests.unit.workers.prompts.materials import RENDERINGS


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_prompt_reads_as_its_golden_does(name: str) -> None:
    assert fault_of(read(name), RENDERINGS[name]()) is None


def test_no_golden_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(RENDERINGS)


@pytest.mark.parametrize("part", ["system", "user"])
def test_other_words_under_the_same_version_are_refused(part: str) -> None:
    prompt = RENDERINGS["extract"]()
    golden = golden_of(prompt)
    changed = replace(prompt, **{part: f"{getattr(prompt, part)} more"})
    assert "raise it" in str(fault_of(golden, changed))
    raised = replace(changed, version="extract/999")
    assert "write the golden files anew" in str(fault_of(golden, raised))


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_prompts_own_words_leave_most_of_the_window_to_the_material(name: str) -> None:
    sizes = (read(name) or "").splitlines()[1]
    system = int(sizes.split()[2])
    assert 0 < system < Settings().model_input_tokens / 10
