"""`test`: every check in order, each named and timed, and at the end what was not run and why."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from deploy.bootstrap import ROOT, VENV
from deploy.chromium import REMEDY, find_chromium

_BIN = VENV / "bin"
# The long tests first: the short ones then fill the end, and tests that share a running system
# stay in one process, since work is stolen from the end of another's.
_SUITES = ("acceptance", "docs", "console", "integration", "golden", "architecture", "unit")


_ONLY_IN_FULL = frozenset({"console"})


@dataclass(frozen=True, slots=True)
class Step:
    """One check: its name, and the command that fails when it does.

    One that `is_beside` runs while the others do; what it says is printed when it ends.
    """

    name: str
    command: tuple[str, ...]
    is_beside: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """How a step ended."""

    name: str
    is_ok: bool
    took_s: float


def steps(*, full: bool) -> list[Step]:
    """Return the checks in their order, the quick ones first."""
    return [
        Step("ruff check", (str(_BIN / "ruff"), "check", ".")),
        Step("ruff format", (str(_BIN / "ruff"), "format", "--check", ".")),
        Step("mypy", (str(_BIN / "mypy"),), is_beside=True),
        Step("lint-imports", (str(_BIN / "lint-imports"),)),
        Step("pytest", _pytest(full=full)),
    ]


def run_checks(*, full: bool, only: str | None = None) -> int:
    """Run all steps, also after one failed; 0 only when every one passed."""
    chosen = [step for step in steps(full=full) if only in (None, step.name)]
    if not chosen:
        names = ", ".join(step.name for step in steps(full=full))
        print(f"There is no step called {only!r}. Steps: {names}.")
        return 2
    if full and find_chromium() is None:
        print(f"The console's pages will not be tested: {REMEDY}.")
    began = time.monotonic()
    results = _run_all(chosen, _environment(full=full))
    took_s = time.monotonic() - began
    print(_report(results, took_s, full=full, only=only), flush=True)
    return 0 if all(result.is_ok for result in results) else 1


def _pytest(*, full: bool) -> tuple[str, ...]:
    suites = _SUITES if full else [suite for suite in _SUITES if suite not in _ONLY_IN_FULL]
    folders = [f"tests/{suite}" for suite in suites if (ROOT / "tests" / suite).is_dir()]
    marks = "not llm" if full else "not full and not llm"
    command = [str(_BIN / "python"), "-m", "pytest", "-n2", "--dist", "worksteal"]
    return (*command, "--durations=10", "-m", marks, *folders)


def _run_all(chosen: list[Step], environment: Mapping[str, str]) -> list[Result]:
    """Return how the steps ended, in their order."""
    with ThreadPoolExecutor() as hands:
        beside = {
            step.name: hands.submit(_run_quietly, step, environment)
            for step in chosen
            if step.is_beside
        }
        others = {step.name: _run(step, environment) for step in chosen if not step.is_beside}
        return [others.get(step.name) or beside[step.name].result() for step in chosen]


def _run(step: Step, environment: Mapping[str, str]) -> Result:
    print(f"\n=== {step.name}: {' '.join(step.command)}", flush=True)
    began = time.monotonic()
    code = subprocess.run(step.command, cwd=ROOT, env=environment, check=False).returncode
    return _ended(step, code, began)


def _run_quietly(step: Step, environment: Mapping[str, str]) -> Result:
    began = time.monotonic()
    done = subprocess.run(
        step.command,
        cwd=ROOT,
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = done.stdout.rstrip()
    print(f"\n=== {step.name}, beside the others: {' '.join(step.command)}\n{said}", flush=True)
    return _ended(step, done.returncode, began)


def _ended(step: Step, code: int, began: float) -> Result:
    took = time.monotonic() - began
    print(
        f"=== {step.name}: {'passed' if code == 0 else f'FAILED ({code})'}, {took:.1f} s",
        flush=True,
    )
    return Result(step.name, code == 0, took)


def _environment(*, full: bool) -> dict[str, str]:
    """Leave out settings of a stack that runs beside: tests make their own.

    What is compiled is kept, whatever is set outside: hundreds of processes load the same code,
    and each would compile it for a second. With `full`, generated tests try many more examples.
    """
    kept = ("STRATAGATE_TEST_",)
    ours = {
        name: value
        for name, value in os.environ.items()
        if (not name.startswith("STRATAGATE_") or name.startswith(kept))
        and name != "PYTHONDONTWRITEBYTECODE"
    }
    return ours | ({"STRATAGATE_TEST_FULL": "1"} if full else {})


def not_run(*, full: bool, only: str | None = None) -> list[str]:
    """Return what this run leaves out, each with its reason."""
    left_out = ["tests marked llm: they need a real local model (pytest -m llm)"]
    if not full:
        left_out.insert(0, "tests marked full (browser, chaos, fuzz): add --full")
    elif find_chromium() is None:
        left_out.append(f"tests/console: {REMEDY}")
    if not (ROOT.parent / "shared" / "data").is_dir():
        left_out.append("tests marked data: the labelled conversations are not on this machine")
    if (ROOT / "tests" / "bench").is_dir():
        left_out.append("tests/bench: measurements, run by hand (pytest tests/bench)")
    if only is not None:
        left_out.insert(0, f"all steps but {only}: --only was given")
    return left_out


def _report(results: list[Result], took_s: float, *, full: bool, only: str | None) -> str:
    width = max(len(result.name) for result in results)
    lines = ["", "Summary"]
    for result in results:
        verdict = "passed" if result.is_ok else "FAILED"
        lines.append(f"  {result.name:<{width}}  {verdict}  {result.took_s:6.1f} s")
    lines += [f"  {'in all':<{width}}          {took_s:6.1f} s", "Not run"]
    lines += [f"  {reason}" for reason in not_run(full=full, only=only)]
    return "\n".join(lines)
