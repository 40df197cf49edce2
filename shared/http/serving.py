"""Serve one application on an address until stopped, by one process or by several."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer
import uvicorn

from shared.metrics import is_shared_by_processes

_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
_GRACE_S: Final = 10
_SILENCE_S: Final = 120
"""Silence after which one of several processes is replaced: on a busy machine loading the code
takes longer than uvicorn's own few seconds, and none would ever start."""

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: on all.")]
Port = Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)]
Processes = Annotated[int, typer.Option(help="Processes that share the port.", min=1, max=64)]


def serve(factory: str, *, host: str, port: int, processes: int) -> None:
    """Serve what `factory` ("module:function") makes; requests under way at a SIGTERM are answered.

    With several processes, each makes its own application and pool, and /metrics tells the sums
    of all, whichever of them answers.
    """
    with _shared_metrics(processes):
        uvicorn.run(
            factory,
            factory=True,
            host=host,
            port=port,
            workers=processes,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
            timeout_worker_healthcheck=_SILENCE_S,
        )


@contextmanager
def _shared_metrics(processes: int) -> Iterator[None]:
    """Lend the processes a folder to count in, unless there is one or nobody to share it with."""
    if processes == 1 or is_shared_by_processes():
        yield
        return
    folder = tempfile.mkdtemp(prefix="stratagate-metrics-")
    os.environ[_FOLDER] = folder  # noqa: TID251 - handed on to the processes, which start anew
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
