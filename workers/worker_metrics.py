"""The metrics of a worker and all its children at one address.

Each prefork child counts into files of a folder that the parent makes before it starts; the
parent adds them up when asked, so that a child that was killed loses no count.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

from shared.logs import get_logger
from shared.metrics import is_shared_by_processes

FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which prometheus_client shares metrics; it must be set before its import."""

_log = get_logger("workers.metrics")
_served: list[Path] = []


def new_folder() -> Path:
    """Make the folder that one worker and its children share."""
    return Path(tempfile.mkdtemp(prefix="stratagate-metrics-"))


def serve_metrics(port: int, address: str) -> None:
    """Serve the sums of this worker's processes; warn and serve none without their folder."""
    if not is_shared_by_processes():
        _log.warning(
            "metrics_not_served", remedy=f"start with `stratagate worker` or set {FOLDER_VARIABLE}"
        )
        return
    registry = CollectorRegistry()
    collector = MultiProcessCollector(registry)  # type: ignore[no-untyped-call] # it has no types
    start_http_server(port, addr=address, registry=registry)
    _served.append(Path(collector._path))


def forget_folder() -> None:
    """Remove the folder of a worker that ends; only of one that `new_folder` made."""
    for folder in _served:
        if folder.name.startswith("stratagate-metrics-"):
            shutil.rmtree(folder, ignore_errors=True)
    _served.clear()
