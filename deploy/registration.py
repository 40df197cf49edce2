"""Make .venv know this working tree: importable, with its console script and entry points.

Written by hand rather than built, so that it needs no build backend and no network.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

_SCRIPT = """#!{python}
import sys

from {module} import {function}

if __name__ == "__main__":
    sys.exit({function}())
"""


def register(root: Path, site_packages: Path, scripts: Path) -> None:
    """Write what an editable installation of the project at `root` would leave behind."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = str(project["name"]), str(project["version"])
    for stale in site_packages.glob(f"{name}-*.dist-info"):
        shutil.rmtree(stale)
    written = [_write(site_packages / f"{name}.pth", f"{root}\n")]
    for script, target in project.get("scripts", {}).items():
        written.append(_write_script(scripts / script, scripts / "python", target))
    info = site_packages / f"{name}-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    written.append(_write(info / "METADATA", metadata))
    written.append(_write(info / "INSTALLER", "stratagate\n"))
    written.append(_write(info / "entry_points.txt", entry_points(project)))
    record = "".join(f"{path},,\n" for path in [*written, info / "RECORD"])
    _write(info / "RECORD", record)


def entry_points(project: dict[str, Any]) -> str:
    """Return entry_points.txt of a pyproject's [project] table."""
    groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    sections = [
        "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())])
        for group, entries in groups.items()
        if entries
    ]
    return "\n\n".join(sections) + "\n"


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _write_script(path: Path, python: Path, target: str) -> Path:
    module, function = target.split(":")
    _write(path, _SCRIPT.format(python=python, module=module, function=function))
    path.chmod(0o755)
    return path
