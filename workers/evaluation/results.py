"""The file that a measurement leaves: what was measured, of which code, on what, and a digest.

The digest makes a results file that was edited by hand one that nothing reads any more.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from shared.clock import SystemClock
from shared.errors import InvalidInput

FORMAT: Final = 1
_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = (".", ":(exclude)docs")
_KEYS: Final = frozenset(
    ["format", "kind", "made_at", "commit", "configuration", "data", "machine", "result", "digest"]
)


@dataclass(frozen=True, slots=True)
class Results:
    """A results file that was read and found whole.

    `commit` is the git commit with "+changes" where the code had uncommitted ones, or the version
    of the package; `data` is {name, sha256} of the file measured on, None where it was generated.
    """

    path: Path
    kind: str
    made_at: datetime
    commit: str
    configuration: Mapping[str, Any]
    data: Mapping[str, str] | None
    machine: Mapping[str, Any]
    result: Mapping[str, Any]
    digest: str


def write_results(
    path: Path,
    kind: str,
    result: Mapping[str, Any],
    *,
    configuration: Mapping[str, Any],
    data: Path | Mapping[str, str] | None = None,
    postgres: str | None = None,
) -> None:
    """Write one measurement with all that it takes to judge and to repeat it.

    Keys of mappings become texts, as in JSON. `data` is the file measured on, or its name and
    sha256 where they are known; a folder's path will not do. `postgres` is the server's version
    where the caller knows it. Raises ValueError for what JSON cannot hold, such as a NaN.
    """
    whole = _as_json(
        {
            "format": FORMAT,
            "kind": kind,
            "made_at": SystemClock().now().isoformat(timespec="seconds"),
            "commit": _commit(),
            "configuration": configuration,
            "data": _named(data) if isinstance(data, Path) else data,
            "machine": machine(postgres=postgres),
            "result": result,
        }
    )
    whole["digest"] = _digest(whole)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_results(path: Path) -> Results:
    """Read a results file; InvalidInput where it is none, or not as it was written."""
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(whole, dict) or whole.keys() != _KEYS or whole["format"] != FORMAT:
        raise InvalidInput(f"{path} is no results file of format {FORMAT}")
    digest = whole.pop("digest")
    if digest != _digest(whole):
        raise InvalidInput(
            f"{path} does not match its digest: a results file is never edited, measure again"
        )
    del whole["format"]
    made_at = datetime.fromisoformat(whole.pop("made_at"))
    return Results(path=path, made_at=made_at, digest=digest, **whole)


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def machine(*, postgres: str | None = None) -> dict[str, Any]:
    """Return what this runs on; memory in MiB, None for what the system does not tell.

    `load` is the load average of the last minute, which holds what ran beside the measurement.
    """
    return {
        "processors": os.cpu_count(),
        "model": _processor(),
        "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "postgres": postgres,
        "load": round(os.getloadavg()[0], 1),
    }


def _named(data: Path) -> dict[str, str]:
    return {"name": data.name, "sha256": sha256_of(data)}


def _as_json(value: Mapping[str, Any]) -> dict[str, Any]:
    # Read back, so that what is digested is what a reader will hold: keys as texts, lists.
    plain: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    return plain


def _digest(whole: Mapping[str, Any]) -> str:
    canonical = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _processor() -> str | None:
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or None


def _commit() -> str:
    head = _git("rev-parse", "HEAD")
    if head is None:
        return f"stratagate {version('stratagate')}"
    return f"{head}+changes" if _git("status", "--porcelain", "--", *_CODE) else head


def _git(*arguments: str) -> str | None:
    """Return what git says of this source tree, None where this is no git work tree."""
    git = shutil.which("git")
    if git is None or not (_ROOT / ".git").exists():
        return None
    asked = subprocess.run(  # noqa: S603 - our own arguments
        [git, "-C", str(_ROOT), *arguments], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() if asked.returncode == 0 else None
