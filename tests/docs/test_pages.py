"""README and tutorial do what they say: their blocks run, in order, against a real system."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from deploy.commands import _parser
from tests.docs.programs import RUN, Reader, blocks_of, matches
from tests.support.stack import RunningSystem

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial" / "first-memory.md"
EVERY = pytest.mark.parametrize("page", [README, TUTORIAL], ids=["README", "tutorial"])
USUAL = "http://127.0.0.1:8080"
"""Where the pages find the API; here it is somewhere else."""


@EVERY
@pytest.mark.timeout(240)
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed here")
def test_the_page_runs_as_it_stands_and_prints_what_it_shows(
    page: Path, running: RunningSystem, reader: Reader
) -> None:
    blocks = [block for block in blocks_of(page) if block.language in RUN]
    assert {block.language for block in blocks} == set(RUN)
    for block in blocks:
        printed = reader.run(
            type(block)(block.language, block.text.replace(USUAL, running.url), block.line)
        )
        if block.shown is not None:
            assert matches(block.shown, printed), f"line {block.line} prints:\n{printed}"


@EVERY
def test_what_a_reader_types_to_begin_and_to_end_exists(page: Path) -> None:
    typed = [
        line.removeprefix("$ ").partition("#")[0]
        for block in blocks_of(page)
        if block.language == "console"
        for line in block.text.splitlines()
        if line.startswith("$ ")
    ]
    ours = [shlex.split(line) for line in typed if line.startswith("python3 -m deploy")]
    assert ours
    for words in ours:
        _parser().parse_args(words[3:])
    others = {line.split()[0] for line in typed if not line.startswith("python3 -m deploy")}
    assert others <= {"git", "cd", ".venv/bin/python"}


@EVERY
def test_the_ports_of_the_page_are_those_of_the_stack(page: Path) -> None:
    ports = set(re.findall(r"127\.0\.0\.1:(\d+)", page.read_text(encoding="utf-8")))
    api = _parser().parse_args(["up"]).port
    assert str(api) in ports
    assert ports <= {str(api), "8090"}
