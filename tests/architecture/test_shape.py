"""The shape of the tree: sizes, names, and where things may stand."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("ingest", "workers", "retrieval", "shared", "deploy", "tests")
FORBIDDEN_NAMES = {"utils", "helpers", "common", "manager", "service", "core"}
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 80
MAX_FUNCTION_P90 = 35
LONGER_FILES: dict[str, str] = {}
"""Files over the limit, each with its reason."""


def _files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def _functions(path: Path) -> list[tuple[str, int]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_file_is_longer_than_the_hard_stop() -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in _files()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert too_long.keys() == LONGER_FILES.keys(), too_long


def test_no_function_is_longer_than_the_hard_stop_and_nine_in_ten_are_short() -> None:
    product = [path for path in _files() if path.relative_to(ROOT).parts[0] != "tests"]
    sizes = {
        f"{path.relative_to(ROOT)}:{name}": lines
        for path in product
        for name, lines in _functions(path)
    }
    assert {name: n for name, n in sizes.items() if n > MAX_FUNCTION_LINES} == {}
    assert statistics.quantiles(sizes.values(), n=10)[-1] <= MAX_FUNCTION_P90


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [path for path in _files() if path.stem in FORBIDDEN_NAMES] == []


def test_the_top_level_holds_what_it_should_and_nothing_beside() -> None:
    allowed = {
        *PACKAGES,
        "docs",
        "pyproject.toml",
        "README.md",
        "LICENSE",
    }
    present = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert present - allowed == set()


LONGER_DOCSTRINGS = {
    "shared/errors.py": "draws the whole tree of errors",
    "workers/models/scripted.py": "documents the format of the script file",
}


@pytest.mark.parametrize("package", PACKAGES[:4])
def test_every_module_says_what_it_is_in_six_lines(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert docstring, path
        if str(path.relative_to(ROOT)) not in LONGER_DOCSTRINGS:
            assert len(docstring.splitlines()) <= 6, path
