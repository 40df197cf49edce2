"""Bring a stack's database to the schema of this version, and keep the key of its tenant."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.local.faults import ServerFailed, log_tail
from deploy.local.instance import InstanceFolder
from deploy.local.private_files import write_private

_LIMIT_S = 180


def prepare_database(folder: InstanceFolder, environment: Mapping[str, str]) -> str:
    """Migrate and return the tenant's key, made on the first start and kept in its file.

    Raises ServerFailed with the end of what the migration said.
    """
    known = ""
    if folder.key_file.exists():
        known = folder.key_file.read_text(encoding="ascii").strip()
    done = subprocess.run(
        [sys.executable, "-m", "deploy.local.seed"],
        cwd=Path(__file__).resolve().parents[2],
        env=dict(environment),
        input=known,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
        start_new_session=True,
    )
    with (folder.logs / "migrate.log").open("a", encoding="utf-8") as log:
        log.write(done.stderr)  # standard output stays out: it holds the key
    if done.returncode != 0:
        tail = log_tail(str(folder.logs / "migrate.log"), done.stderr.splitlines())
        raise ServerFailed(f"The database could not be migrated. {tail}")
    key = str(json.loads(done.stdout.splitlines()[-1])["key"])
    if key != known:
        write_private(folder.key_file, key + "\n")
    return key
