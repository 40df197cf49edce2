"""What the command line shows a person whose terminal is narrow, or whose database is away."""

from __future__ import annotations

from io import StringIO

import pytest
from pydantic import SecretStr
from rich.console import Console

from shared.cli import main
from shared.database_cli import _jobs_table
from shared.errors import Unavailable
from shared.settings import Settings
from shared.store.tenants import find_tenants


def test_the_counts_of_jobs_keep_their_headings_in_a_narrow_terminal() -> None:
    tenant = {"name": "local", "jobs": {"extract": {"running": 1}, "summarize": {"dead": 2}}}
    terminal = Console(width=80, record=True, file=StringIO())
    terminal.print(_jobs_table(tenant))
    shown = terminal.export_text()
    assert all(word in shown for word in ("running", "dead", "summarize"))
    assert "skipped" not in shown


def test_a_database_that_is_away_is_an_error_in_words() -> None:
    settings = Settings(database_url=SecretStr("postgresql://127.0.0.1:1/none"))
    with pytest.raises(Unavailable, match="database is away"):
        find_tenants(settings)


def test_migrating_without_a_database_is_one_line_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(database_url=SecretStr("postgresql://u:hidden@127.0.0.1:1/none"))
    monkeypatch.setattr("shared.database_cli.get_settings", lambda: settings)
    monkeypatch.setattr("sys.argv", ["stratagate", "migrate"])
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert said.startswith("unavailable: the database could not be migrated: ")
    assert said.count("\n") == 1
    assert "127.0.0.1" in said
    assert "hidden" not in said
