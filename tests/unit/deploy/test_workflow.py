"""The workflow runs what is promised: every supported Python with every supported Postgres."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return loaded


def _steps(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_every_python_meets_every_postgres(workflow: dict[str, Any]) -> None:
    matrix = workflow["jobs"]["versions"]["strategy"]["matrix"]
    assert matrix == {
        "python": ["3.11", "3.12", "3.13", "3.14"],
        "postgres": ["14", "15", "16", "17", "18"],
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={matrix['python'][0]}"


def test_the_matrix_uses_the_servers_that_it_starts(workflow: dict[str, Any]) -> None:
    job = workflow["jobs"]["versions"]
    postgres = job["services"]["postgres"]
    assert postgres["image"].endswith("pg${{ matrix.postgres }}")
    assert postgres["env"]["POSTGRES_PASSWORD"] in job["env"]["STRATAGATE_TEST_DATABASE_URL"]
    assert job["env"]["STRATAGATE_TEST_BROKER_URL"].startswith("redis://")
    assert "python3 -m deploy test --only pytest" in _steps(job)


def test_the_plain_job_runs_what_a_developer_runs(workflow: dict[str, Any]) -> None:
    assert _steps(workflow["jobs"]["checks"]) == ["bash .ci/run"]
    assert "deploy test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_scripts_that_the_workflow_calls_are_there_and_can_be_run(
    workflow: dict[str, Any],
) -> None:
    called = {
        name
        for job in workflow["jobs"].values()
        for step in _steps(job)
        for name in re.findall(r"tests/\S+\.sh", step)
    }
    assert called
    assert all((ROOT / name).stat().st_mode & 0o100 for name in called)


def test_the_workflow_may_only_read_and_is_told_no_secret(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in WORKFLOW.read_text(encoding="utf-8")
