"""The rules stay pure: what shared.domain may import, and that it opens no door to the outside."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOMAIN = ROOT / "shared" / "domain"
DECISION = ROOT / "docs" / "decisions" / "0006-pure-libraries.md"

OURS = ("shared.domain", "shared.errors", "shared.clock")
DOORS = frozenset(
    {
        # files and processes
        "os", "io", "pathlib", "shutil", "tempfile", "glob", "fileinput", "subprocess", "signal",
        "multiprocessing", "sys", "atexit", "sqlite3", "dbm", "shelve", "pickle", "mmap", "fcntl",
        "resource", "pty", "platform", "ctypes", "zoneinfo",
        # the network
        "socket", "ssl", "select", "selectors", "urllib", "http", "ftplib", "smtplib", "imaplib",
        "poplib", "xmlrpc", "socketserver", "webbrowser",
        # other threads of control
        "asyncio", "threading", "concurrent", "queue", "sched", "_thread", "contextvars",
        # the clock, chance and identity, which are handed in
        "time", "random", "secrets", "uuid", "getpass", "locale",
        # what a reader of the code cannot follow
        "importlib", "runpy", "pkgutil", "logging", "warnings", "gc", "inspect", "builtins",
    }
)  # fmt: skip
"""Modules of the standard library that reach outside the arguments of a function."""

BUILTINS = frozenset({"open", "print", "input", "eval", "exec", "__import__", "breakpoint"})
CLOCKS = frozenset({"now", "today", "utcnow"})


def named_libraries() -> dict[str, tuple[str, str]]:
    """Return the decision's table: distribution to (imported as, the module that uses it)."""
    row = re.compile(r"^\| `([\w-]+)` \| `(\w+)` \| `([\w.]+)` \| \S.*\|$", re.MULTILINE)
    return {name: (module, user) for name, module, user in row.findall(DECISION.read_text("utf-8"))}


LIBRARIES = named_libraries()
NAMED = frozenset(module for module, _ in LIBRARIES.values())
ALLOWED = (frozenset(sys.stdlib_module_names) - DOORS) | NAMED


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules a tree imports, at any depth; a relative import as its dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            # `from shared import store` imports shared.store.
            yield from (
                f"{module}.{alias.name}" if module == "shared" else module for alias in node.names
            )


def faults(source: str) -> list[str]:
    """Return what a module does that a rule must not."""
    tree = ast.parse(source)
    found = [module for module in imported(tree) if not _may_import(module)]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            found.append(f"{node.func.id}()")
        elif isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS:
            found.append(f".{node.func.attr}()")
    return found


def _may_import(module: str) -> bool:
    if any(module == ours or module.startswith(f"{ours}.") for ours in OURS):
        return True
    return module.split(".")[0] in ALLOWED


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


FILES = sorted(DOMAIN.rglob("*.py"))


def test_the_rules_import_and_call_nothing_that_reaches_outside() -> None:
    assert len(FILES) > 50
    found = {module_of(path): faults(path.read_text(encoding="utf-8")) for path in FILES}
    assert {module: wrong for module, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import os.path as p",
        "from os import path",
        "import json, socket",
        "import pydantic",
        "from sqlalchemy import select",
        "from shared.store import database",
        "from shared import store",
        "import shared.ids",
        "from shared.domains import x",
        "import ingest.turns",
        "from . import decay",
        "def f():\n    import random",
        "def f():\n    return open('x')",
        "def f():\n    return __import__('os')",
        "from datetime import datetime\nX = datetime.now()",
        "import datetime\nX = datetime.date.today()",
    ],
)
def test_each_way_out_is_seen(source: str) -> None:
    assert len(faults(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import re",
        "from collections.abc import Mapping",
        "from shared.domain import decay",
        "from shared.domain.temporal.zones import zone_of",
        "from shared import errors",
        "from shared.clock import Clock",
    ],
)
def test_what_a_rule_needs_is_allowed(source: str) -> None:
    assert faults(source) == []


def test_every_row_of_the_decision_is_read_and_names_a_dependency_of_ours() -> None:
    rows = [line for line in DECISION.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    assert len(rows) == len(LIBRARIES) > 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[^\w-]", one, maxsplit=1)[0] for one in project["dependencies"]}
    assert set(LIBRARIES) <= declared


@pytest.mark.parametrize("distribution", LIBRARIES)
def test_a_named_library_is_used_where_the_decision_says_and_nowhere_else(
    distribution: str,
) -> None:
    module, user = LIBRARIES[distribution]
    users = {
        module_of(path)
        for path in FILES
        if module in {m.split(".")[0] for m in imported(ast.parse(path.read_text("utf-8")))}
    }
    assert users == {user}
