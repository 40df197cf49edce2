"""The reference is whole and true: nothing of the product lacks its row, and no row is orphaned.

Error codes are held in `tests/unit/ingest/test_error_reference.py`, the words of the tools in
`tests/unit/retrieval/test_tools_manifest.py`, the picture of the job states in `tests/docs`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

import ingest.routes
import retrieval.routes
from deploy.commands import _parser
from retrieval.tools.manifest import TOOLS
from shared import metrics
from shared.cli import command_line
from shared.domain.jobs import QUEUE_OF, JobKind, JobState
from shared.http.application import build_app
from shared.settings import Settings
from shared.store.tables import metadata

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"


def _rows(page: str, pattern: str) -> set[str]:
    """Return the first cells of a page's table rows that match a pattern."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    return set(re.findall(rf"^\| `({pattern})` \|", text, flags=re.MULTILINE))


def test_every_setting_has_its_row_and_none_is_orphaned() -> None:
    named = {f"STRATAGATE_{name.upper()}" for name in Settings.model_fields}
    assert _rows("settings.md", r"STRATAGATE_\w+") == named


def test_every_setting_shows_its_default() -> None:
    text = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        row = re.search(rf"^\| `STRATAGATE_{name.upper()}` \| (.*?) \|", text, re.MULTILINE)
        default = field.default
        shown = default.get_secret_value() if hasattr(default, "get_secret_value") else default
        assert row is not None
        assert row.group(1).strip("`") == ("" if shown is None else str(shown)), name


def test_every_route_has_its_row_and_none_is_orphaned() -> None:
    app = build_app(
        Settings(), title="reference", routers=[ingest.routes.router, retrieval.routes.router]
    )
    served = {
        f"{method.upper()} {path}"
        for path, operations in app.openapi()["paths"].items()
        for method in operations
    }
    assert _rows("routes.md", r"[A-Z]+ /[^`]*") == served


def test_every_job_kind_and_state_has_its_row() -> None:
    rows = _rows("jobs.md", r"\w+")
    assert rows == {kind.value for kind in JobKind} | {state.value for state in JobState}
    text = (REFERENCE / "jobs.md").read_text(encoding="utf-8")
    for kind, queue in QUEUE_OF.items():
        assert f"| `{kind.value}` | `{queue}` |" in text


def test_every_metric_has_its_row_and_none_is_orphaned() -> None:
    collected = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in metrics.REGISTRY.collect()
    }
    assert _rows("metrics.md", r"stratagate_\w+") == collected


def test_every_alert_has_its_page_and_none_is_orphaned() -> None:
    rules = (ROOT / "deploy" / "prometheus" / "alerts.yml").read_text(encoding="utf-8")
    pages = {path.stem for path in (ROOT / "docs" / "howto" / "alerts").glob("*.md")}
    assert set(re.findall(r"^ +- alert: (\w+)$", rules, flags=re.MULTILINE)) == pages


def test_every_tool_has_its_heading_and_none_is_orphaned() -> None:
    text = (REFERENCE / "tools.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (memory_\w+)$", text, flags=re.MULTILINE)
    assert headings == [tool.name for tool in TOOLS]


def test_every_table_has_its_row_with_its_key_and_what_it_refers_to() -> None:
    text = (REFERENCE / "schema.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| ?(.*?) \| ", text, flags=re.MULTILINE)
    assert len(rows) == len(metadata.tables)
    assert {name: (_named(key), _named(to)) for name, key, to in rows} == {
        name: (
            [column.name for column in table.primary_key if column.name != "tenant_id"],
            sorted({key.referred_table.name for key in table.foreign_key_constraints}),
        )
        for name, table in metadata.tables.items()
    }


def test_the_picture_of_the_schema_has_every_foreign_key() -> None:
    text = (REFERENCE / "schema.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^    (\w+) \|\|--o\{ (\w+) : ", text, flags=re.MULTILINE)) == {
        (key.referred_table.name, name)
        for name, table in metadata.tables.items()
        for key in table.foreign_key_constraints
    }


def test_every_command_has_its_row_and_none_is_orphaned() -> None:
    commands = {f"stratagate {name}" for name in _leaves(typer.main.get_command(command_line()))}
    verbs = next(
        action.choices for action in _parser()._actions if action.dest == "verb" and action.choices
    )
    stack = {f"python3 -m deploy {verb}" for verb in verbs}
    assert _rows("cli.md", r"[^`]*") == commands | stack


def _named(cell: str) -> list[str]:
    """Return what a cell names in backticks, in order."""
    return re.findall(r"`(\w+)`", cell)


def _leaves(group: Any, prefix: str = "") -> list[str]:
    # Typer carries a copy of click, whose classes are not click's own: ask for what a group has.
    names: list[str] = []
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            names += _leaves(command, f"{prefix}{name} ")
        else:
            names.append(f"{prefix}{name}")
    return names
