"""Migrate the database, and make the first tenant and its key, with the project's own commands."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from deploy.local.faults import ServerFailed, log_tail
from deploy.local.instance import InstanceFolder
from deploy.local.private_files import write_private
from deploy.local.services import stratagate

TENANT = "local"
_PERMISSIONS = "ingest,read,use,curate,erase,admin"
_LIMIT_S = 120


def migrate(folder: InstanceFolder, environment: Mapping[str, str]) -> None:
    """Bring the schema to the head. Raises ServerFailed with the end of its output."""
    _command(("migrate",), folder, environment)


def ensure_key(folder: InstanceFolder, environment: Mapping[str, str]) -> str:
    """Return the key of this folder's tenant, made on the first start and kept in its file."""
    if folder.key_file.exists():
        return folder.key_file.read_text(encoding="ascii").strip()
    words = ("key", "create", "--tenant", _ensure_tenant(folder, environment))
    words += ("--label", "local stack", "--permissions", _PERMISSIONS, "--json")
    key = str(json.loads(_command(words, folder, environment))["key"])
    write_private(folder.key_file, key + "\n")
    return key


def _ensure_tenant(folder: InstanceFolder, environment: Mapping[str, str]) -> str:
    """Return the tenant's id; a start that was cut before its key was kept has made it already."""
    listed = _command(("tenant", "list", "--json"), folder, environment)
    for tenant in map(json.loads, listed.splitlines()):
        if tenant["name"] == TENANT:
            return str(tenant["tenant_id"])
    made = _command(("tenant", "create", TENANT, "--json"), folder, environment)
    return str(json.loads(made)["tenant_id"])


def _command(words: tuple[str, ...], folder: InstanceFolder, environment: Mapping[str, str]) -> str:
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
    if done.returncode != 0:
        output = log_tail("its output", (done.stdout + done.stderr).splitlines())
        raise ServerFailed(f"`stratagate {' '.join(words)}` failed. {output}")
    return done.stdout
