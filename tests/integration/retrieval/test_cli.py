from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from shared.cli import command_line
from shared.settings import get_settings
from tests.integration.retrieval.world import NS, World

RUNNER = CliRunner()


@pytest.fixture
def command(world: World, both_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[typer.Typer]:
    monkeypatch.setenv("STRATAGATE_API_URL", both_url)
    monkeypatch.setenv("STRATAGATE_API_KEY", world.tenant.admin_key)
    get_settings.cache_clear()
    yield command_line()
    get_settings.cache_clear()


def test_search_and_show_speak_with_the_api(world: World, command: typer.Typer) -> None:
    block = world.block("The garden gate is green.", "Noted.")
    event = world.event(block, "Gate is green")
    found = RUNNER.invoke(command, ["search", NS, "gate", "--json"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.output)["items"][0]["event_id"] == event
    for kind in ("events", "raw"):
        table = RUNNER.invoke(command, ["search", NS, "gate", "--kind", kind])
        assert (table.exit_code, "green" in table.output) == (0, True), table.output
    shown = RUNNER.invoke(command, ["show", NS, block])
    assert "user: The garden gate is green." in shown.output
    assert event in RUNNER.invoke(command, ["show", NS, event]).output
    nothing = RUNNER.invoke(command, ["search", NS, "gate", "--kind", "graph"])
    assert "no_match" in nothing.output


def test_an_unknown_id_fails_with_the_apis_words(world: World, command: typer.Typer) -> None:
    world.begin()
    failed = RUNNER.invoke(command, ["show", NS, "evt_" + "0" * 32])
    assert failed.exit_code == 1
    assert getattr(failed.exception, "code", "") == "not_found"
    assert RUNNER.invoke(command, ["show", NS, "xyz"]).exit_code == 2
