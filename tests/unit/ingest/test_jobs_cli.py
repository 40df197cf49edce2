from __future__ import annotations

from io import StringIO

from rich.console import Console

from ingest.jobs_cli import _REMEDIES, _letters
from shared.domain.jobs import FailureClass


def test_every_class_of_failure_has_its_remedy() -> None:
    assert set(_REMEDIES) == {one.value for one in FailureClass}


def test_ids_of_dead_letters_can_be_copied_from_a_narrow_terminal() -> None:
    job = {
        "job_id": "job_01a22d0fa09070008bd8f34d501cd635",
        "namespace": "project:" + "n" * 40,
        "kind": "summarize",
        "finalized_at": "2026-11-30T15:25:32.855000+00:00",
        "reason": "malformed",
        "errors": [],
    }
    terminal = Console(width=80, record=True, file=StringIO())
    terminal.print(_letters([job]))
    assert job["job_id"] in terminal.export_text()
