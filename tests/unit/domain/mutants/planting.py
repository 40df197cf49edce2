"""Plant a mistake in a copy of the pure rules and run the tests of that copy beside it.

The working tree is never touched: the copy lives in a folder of the test, is imported by a
process of its own, and that process refuses to start if it would import the real rules.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
TESTS = Path("tests/unit/domain")
TIMEOUT_S = 120.0
"""A mutant that loops for ever would be no kill; the run ends with an error instead."""

_RULES = ("shared/__init__.py", "shared/errors.py", "shared/clock.py")
_SUPPORT = "graph_support.py"
_CONFIGURATION = """\
[pytest]
addopts = --import-mode=importlib
pythonpath = .
filterwarnings = error
"""
_GUARD = """\
from pathlib import Path

from hypothesis import Phase, settings

import shared
import shared.domain

# The first counter-example will do: to shrink it takes longer than to find it.
settings.register_profile(
    "mutant",
    deadline=None,
    max_examples=40,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("mutant")

HERE = Path(__file__).resolve().parent
for package in (shared, shared.domain):
    assert Path(package.__file__).resolve().is_relative_to(HERE), package.__file__
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted mistake.

    `source` stands exactly once in `file` (below shared/domain) and becomes `replacement`;
    `killer` is the test that must then fail, as `test_file.py::test_name`; `why` says what a
    user would suffer if it did not.
    """

    name: str
    file: str
    source: str
    replacement: str
    killer: str
    why: str


def copy_rules(folder: Path, *killers: str) -> None:
    """Copy the pure rules, the killers' files and nothing else to a folder of their own."""
    unneeded = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "shared/domain", folder / "shared/domain", ignore=unneeded)
    for name in _RULES:
        shutil.copyfile(ROOT / name, folder / name)
    (folder / TESTS).mkdir(parents=True)
    for package in (TESTS, *TESTS.parents[:-1]):
        (folder / package / "__init__.py").touch()
    for name in {_SUPPORT, *(killer.partition("::")[0] for killer in killers)}:
        shutil.copyfile(ROOT / TESTS / name, folder / TESTS / name)
    (folder / "pytest.ini").write_text(_CONFIGURATION, encoding="utf-8")
    (folder / "conftest.py").write_text(_GUARD, encoding="utf-8")


def plant(folder: Path, mutant: Mutant) -> None:
    """Make the mistake in the copy; ValueError if the rule no longer reads as it did."""
    path = folder / "shared/domain" / mutant.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.source) != 1:
        raise ValueError(f"{mutant.name}: not exactly once in {mutant.file}: {mutant.source!r}")
    path.write_text(text.replace(mutant.source, mutant.replacement), encoding="utf-8")


def run_tests(folder: Path, *killers: str) -> subprocess.CompletedProcess[str]:
    """Run these tests of the copy; pytest's exit codes: 0 all passed, 1 one failed."""
    return subprocess.run(  # noqa: S603 - this interpreter, on files written here
        [
            *(sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"),
            *(f"{TESTS.as_posix()}/{killer}" for killer in killers),
        ],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def _environment(folder: Path) -> dict[str, str]:
    """Return this process's environment without what would make the run another one."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "STRATAGATE_", "PYTHON"))
    }
    # Without plugins a run starts in half the time; no rule's test needs one.
    return kept | {"PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
