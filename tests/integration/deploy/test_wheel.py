"""The built wheel: only what belongs in it, and it runs without the source tree beside it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("ingest", "workers", "retrieval", "shared")
ROLES = ("ingest", "retrieval", "worker", "relay", "upkeep", "migrate", "flower", "console")
ALLOWED = re.compile(
    rf"(?:{'|'.join(PACKAGES)})/[\w/]+\.(?:py|py\.mako|css|js)"
    r"|stratagate-[\w.]+\.dist-info/(?:METADATA|WHEEL|RECORD|entry_points\.txt|licenses/LICENSE)"
)
SECRETS = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bghp_\w{36}\b|\bsk-[A-Za-z0-9]{32,}"
)
_LIMIT_S = 600


def _run(*command: str, cwd: Path) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STRATA")}
    kept.pop("PYTHONPATH", None)
    done = subprocess.run(  # noqa: S603 - our own interpreters
        command,
        cwd=cwd,
        env=kept,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    _run(*command, str(folder), str(ROOT), cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter of an environment with the wheel and this one's dependencies, not the tree."""
    folder = tmp_path_factory.mktemp("clean")
    _run(sys.executable, "-m", "venv", "--without-pip", str(folder / "venv"), cwd=folder)
    python = folder / "venv" / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(_run(str(python), "-c", where, cwd=folder).strip())
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    _run(*command, "--no-deps", "--no-index", str(wheel), cwd=folder)
    # Behind the wheel on the path; its .pth files, which name the tree, are not read there.
    here = _run(sys.executable, "-c", where, cwd=folder).strip()
    line = f"import sys; sys.path.append({here!r})\n"
    (site / "dependencies.pth").write_text(line, encoding="utf-8")
    return python


def test_no_other_distribution_provides_our_top_level_names() -> None:
    others = {
        (distribution.metadata["Name"], top)
        for distribution in distributions()
        for file in distribution.files or ()
        for top in [file.parts[0].removesuffix(".py")]
        if top in PACKAGES and distribution.metadata["Name"] != "stratagate"
    }
    assert others == set()


@pytest.mark.full
@pytest.mark.timeout(_LIMIT_S)
def test_the_wheel_holds_what_is_allowed_and_all_of_it(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    assert {name for name in names if not ALLOWED.fullmatch(name)} == set()
    sources = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    assert sources <= names
    assert any("migrations/versions/" in name for name in names)


@pytest.mark.full
@pytest.mark.timeout(_LIMIT_S)
def test_the_wheel_holds_no_secret_and_no_path_of_the_machine_that_built_it(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        content = archive.read(name)
        assert not SECRETS.search(content), name
        assert os.fsencode(ROOT) not in content, name


@pytest.mark.full
@pytest.mark.timeout(_LIMIT_S)
def test_it_installs_and_runs_in_a_clean_environment(clean: Path, tmp_path: Path) -> None:
    where = _run(
        str(clean),
        "-c",
        "import ingest.app, retrieval.app, retrieval.console.app, shared.cli, workers.cli\n"
        "for it in (ingest.app, retrieval.app, shared.cli, workers.cli): print(it.__file__)",
        cwd=tmp_path,
    )
    site = str(clean.parents[1])
    assert all(line.startswith(site) for line in where.splitlines())
    command = clean.parent / "stratagate"
    said = _run(str(command), "--help", cwd=tmp_path)
    for role in ROLES:
        assert re.search(rf"\b{role}\b", said), role
    assert "this version's" in _run(str(command), "migrate", "--help", cwd=tmp_path)


@pytest.mark.full
@pytest.mark.timeout(_LIMIT_S)
def test_its_migrations_are_those_of_the_tree(clean: Path, tmp_path: Path) -> None:
    ask = "from shared.store.migrate import head_revision; print(head_revision())"
    assert _run(str(clean), "-c", ask, cwd=tmp_path) == _run(sys.executable, "-c", ask, cwd=ROOT)
