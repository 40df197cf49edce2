from __future__ import annotations

from ingest.jobs_cli import _REMEDIES
from shared.domain.jobs import FailureClass


def test_every_class_of_failure_has_its_remedy() -> None:
    assert set(_REMEDIES) == {one.value for one in FailureClass}
