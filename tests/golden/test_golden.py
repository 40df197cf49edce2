"""Every golden case holds, but for the fields that a decision of section 0 overrules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.golden.adapter import ADAPTERS, COMPARE, OVERRULED
from tests.golden.comparing import Difference, differences
from tests.golden.vectors import FILES, cases, load

_SHOWN = 10


def overruled_paths(file: str, name: str) -> dict[str, str]:
    return {path: by for (f, n, path), by in OVERRULED.items() if (f, n) == (file, name)}


def is_under(path: str, root: str) -> bool:
    return path == root or path.startswith((f"{root}.", f"{root}[")) or root == "$"


def judge(file: str, case: dict, tally: Counter[str]) -> list[str]:
    """Return what is wrong with a case: differences nobody overruled, or overruled in vain."""
    name = case["name"]
    actual = ADAPTERS[file](case["input"], load(file))
    compare: Callable[..., list[Difference]] = COMPARE.get(file, differences)
    found = compare(case["output"], actual)
    overruled = overruled_paths(file, name)
    wrong = [
        f"{name}: {difference}"
        for difference in found
        if not any(is_under(difference.path, root) for root in overruled)
    ]
    for root, decision in overruled.items():
        if any(is_under(difference.path, root) for difference in found):
            tally[decision] += 1
        else:
            wrong.append(f"{name}: {root} is overruled by {decision} but does not differ")
    return wrong


@pytest.mark.parametrize("file", FILES)
def test_every_case_holds_or_is_overruled_by_a_named_decision(
    file: str, record_property: Callable[[str, object], None]
) -> None:
    assert file in ADAPTERS, f"no adapter runs {file}.json"
    tally: Counter[str] = Counter()
    wrong = [problem for case in cases(file) for problem in judge(file, case, tally)]
    record_property("golden_file", file)
    record_property("golden_cases", len(cases(file)))
    record_property("golden_overruled", dict(tally))
    assert not wrong, f"{len(wrong)} problems, the first:\n" + "\n".join(wrong[:_SHOWN])


def test_every_overruled_field_names_a_case_that_exists() -> None:
    known = {(file, case["name"]) for file in FILES for case in cases(file)}
    assert {(file, name) for file, name, _ in OVERRULED} <= known


def test_case_names_are_unique_within_a_file() -> None:
    for file in FILES:
        names = Counter(case["name"] for case in cases(file))
        assert not [name for name, count in names.items() if count > 1], file
