import subprocess
import sys
from pathlib import Path

import pytest

from deploy import bootstrap, checks, commands
from deploy.bootstrap import ROOT


def parse(*words: str):
    return commands._parser().parse_args(list(words))


def test_up_uses_the_projects_own_data_folder_and_the_usual_port():
    options = parse("up")
    assert options.data == ROOT / ".stratagate"
    assert (options.port, options.apart, options.detach) == (8080, False, False)


def test_up_takes_folder_port_and_mode(tmp_path):
    options = parse("up", "--data", str(tmp_path), "--port", "0", "--apart", "--detach")
    assert options.data == tmp_path
    assert (options.port, options.apart, options.detach) == (0, True, True)


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_refused(port, capsys):
    with pytest.raises(SystemExit):
        parse("up", f"--port={port}")
    assert "port" in capsys.readouterr().err


def test_down_has_no_way_to_delete_data():
    assert set(vars(parse("down"))) == {"verb", "data"}


def test_a_second_setup_finds_nothing_to_do(monkeypatch, tmp_path):
    done = tmp_path / "stamp"
    done.write_text(bootstrap._fingerprint())
    monkeypatch.setattr(bootstrap, "_STAMP", done)
    monkeypatch.setattr(bootstrap, "venv_python", lambda: Path(sys.executable))
    monkeypatch.setattr(bootstrap, "_install", lambda: pytest.fail("installed again"))
    assert bootstrap.setup() is False


def test_a_changed_lock_asks_for_a_new_setup(monkeypatch, tmp_path):
    before = bootstrap._fingerprint()
    other = tmp_path / "requirements.lock"
    other.write_bytes(bootstrap.LOCK.read_bytes() + b"# changed\n")
    monkeypatch.setattr(bootstrap, "LOCK", other)
    assert bootstrap._fingerprint() != before


def test_the_first_file_can_be_read_by_an_old_python_to_say_so():
    script = (
        "import sys; sys.version_info = (3, 8, 1); sys.path.insert(0, '.');"
        "from deploy.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "needs Python 3.11 or newer, this is 3.8.1" in done.stdout


def test_before_the_environment_stands_only_the_standard_library_is_imported():
    script = (
        "import deploy.__main__, deploy.commands, deploy.bootstrap, sys;"
        "print(sorted({n.partition('.')[0] for n in sys.modules} "
        "- set(sys.stdlib_module_names) - {'deploy', '__main__'}))"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-S", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_checks_run_in_order_and_cover_every_suite():
    names = [step.name for step in checks.steps(full=False)]
    assert names == ["ruff check", "ruff format", "mypy", "lint-imports", "pytest"]
    pytest_command = checks.steps(full=False)[-1].command
    assert {"tests/unit", "tests/architecture"} <= set(pytest_command)
    assert "not full and not llm" in pytest_command
    assert "not full and not llm" not in checks.steps(full=True)[-1].command


def test_one_failed_step_fails_the_whole_and_the_rest_still_runs(monkeypatch, capsys):
    fake = [
        checks.Step("first", (sys.executable, "-c", "raise SystemExit(3)")),
        checks.Step("beside", (sys.executable, "-c", "exit('a fault')"), is_beside=True),
        checks.Step("second", (sys.executable, "-c", "")),
    ]
    monkeypatch.setattr(checks, "steps", lambda *, full: fake)
    assert checks.run_checks(full=False) == 1
    said = capsys.readouterr().out
    assert "first   FAILED" in said
    assert "beside  FAILED" in said
    assert "a fault" in said
    assert "second  passed" in said
    assert "Not run" in said
    assert "--full" in said


def test_all_steps_passing_is_success(monkeypatch):
    fake = [checks.Step("only", (sys.executable, "-c", ""))]
    monkeypatch.setattr(checks, "steps", lambda *, full: fake)
    assert checks.run_checks(full=True) == 0


def test_continuous_integration_runs_exactly_the_local_command():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert script == ["#!/usr/bin/env bash", "exec python3 -m deploy test"]


def test_a_run_keeps_what_is_compiled_and_takes_no_settings_of_a_stack_beside(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("STRATAGATE_DATABASE_URL", "postgresql://elsewhere/live")
    monkeypatch.setenv("STRATAGATE_TEST_FOLDER", "a folder")
    environment = checks._environment(full=False)
    assert "PYTHONDONTWRITEBYTECODE" not in environment
    assert "STRATAGATE_DATABASE_URL" not in environment
    assert environment["STRATAGATE_TEST_FOLDER"] == "a folder"
