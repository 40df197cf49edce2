"""What the command line shows a person whose terminal is narrow, or whose database is away."""

from __future__ import annotations

from io import StringIO

import pytest
from pydantic import SecretStr
from rich.console import Console

from shared.cli import _jobs_table
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
