"""Migrate the database, and make the first tenant and its key, with the project's own commands."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from deploy.local.faults import ServerFailed, log_tail
from deploy.local.instance import InstanceFolder
from deploy.local.private_files import write_private
from deploy.local.services import stratagate

TENANT = "local"
_PERMISSIONS = "ingest,read,use,curate,erase,admin"
_KEY = re.compile(r"\bsg_[A-Za-z0-9_\-.]+")
_LIMIT_S = 120


def migrate(folder: InstanceFolder, environment: Mapping[str, str]) -> None:
    """Bring the schema to the head. Raises ServerFailed with the end of its output."""
    _command(("migrate",), folder, environment)


def ensure_key(folder: InstanceFolder, environment: Mapping[str, str]) -> str:
    """Return the key of this folder's tenant, made on the first start and kept in its file."""
    if folder.key_file.exists():
        return folder.key_file.read_text(encoding="ascii").strip()
    _create_tenant(folder, environment)
    words = ("key", "create", "--tenant", TENANT, "--permissions", _PERMISSIONS)
    found = _KEY.search(_command(words, folder, environment))
    if found is None:
        raise ServerFailed("`stratagate key create` printed no key.")
    write_private(folder.key_file, found.group() + "\n")
    return found.group()


def _create_tenant(folder: InstanceFolder, environment: Mapping[str, str]) -> None:
    """A start that was cut before the key was kept has made the tenant already."""
    done = _run(("tenant", "create", TENANT), folder, environment)
    if done.returncode != 0 and "exist" not in (done.stdout + done.stderr):
        raise ServerFailed(f"`stratagate tenant create {TENANT}` failed.\n{_end(done)}")


def _command(words: tuple[str, ...], folder: InstanceFolder, environment: Mapping[str, str]) -> str:
    done = _run(words, folder, environment)
    if done.returncode != 0:
        raise ServerFailed(f"`stratagate {' '.join(words)}` failed.\n{_end(done)}")
    return done.stdout


def _run(
    words: tuple[str, ...], folder: InstanceFolder, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        stratagate(*words),
        cwd=Path(__file__).resolve().parents[2],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
        start_new_session=True,
    )
    with (folder.logs / "commands.log").open("a", encoding="utf-8") as log:
        # Standard output stays out: that of `key create` is the key itself.
        log.write(f"stratagate {' '.join(words)}: {done.returncode}\n{done.stderr}")
    return done


def _end(done: subprocess.CompletedProcess[str]) -> str:
    return log_tail("its output", (done.stdout + done.stderr).splitlines())
