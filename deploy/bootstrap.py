"""From a bare Python to a working .venv: standard library only, as nothing else is there yet.

A second run compares one hash and returns at once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from deploy.registration import register

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
LOCK = ROOT / "deploy" / "requirements.lock"
_STAMP = VENV / "stratagate-setup"


class SetupFailed(Exception):
    """The environment could not be made; the text says what to do."""


def venv_python() -> Path:
    """Return the interpreter of .venv."""
    return VENV / "bin" / "python"


def setup() -> bool:
    """Make .venv and install the lock into it; False when that had been done already.

    Raises SetupFailed with what to do about it.
    """
    wanted = _fingerprint()
    if _is_done(wanted):
        return False
    began = time.monotonic()
    if not _runs(venv_python()):
        _create_venv()
    _install()
    register(ROOT, _site_packages(), VENV / "bin")
    _STAMP.write_text(wanted + "\n", encoding="ascii")
    print(f"Set up {VENV} in {time.monotonic() - began:.0f} s.", flush=True)
    return True


def inside_venv() -> bool:
    """Tell whether this process already runs on .venv's interpreter."""
    return Path(sys.prefix).resolve() == VENV.resolve()


def run_inside_venv(arguments: list[str]) -> None:
    """Replace this process by the same command on .venv's interpreter."""
    python = str(venv_python())
    sys.stdout.flush()
    os.execv(python, [python, "-m", "deploy", *arguments])  # noqa: S606 - our own interpreter


def _fingerprint() -> str:
    """Hash all that the environment depends on: the lock, the entry points, and where we are."""
    digest = hashlib.sha256()
    for path in (LOCK, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    digest.update(os.fsencode(ROOT))
    return digest.hexdigest()


def _is_done(wanted: str) -> bool:
    try:
        return _STAMP.read_text(encoding="ascii").strip() == wanted and venv_python().exists()
    except FileNotFoundError:
        return False


def _runs(python: Path) -> bool:
    """Tell whether the interpreter is there and recent enough; a moved Python leaves a dead one."""
    if not python.exists():
        return False
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([str(python), "-c", check], check=False).returncode == 0


def _create_venv() -> None:
    print(f"Creating {VENV} …", flush=True)
    if VENV.exists():
        shutil.rmtree(VENV)
    uv = shutil.which("uv")
    if uv is not None:
        command = [uv, "venv", "--quiet", "--python", sys.executable, str(VENV)]
        if subprocess.run(command, check=False).returncode == 0:
            return
    done = subprocess.run(
        [sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetupFailed(
            f"{sys.executable} could not make a virtual environment:\n{done.stdout}{done.stderr}"
            "On Debian and Ubuntu the package python3-venv is needed; or install uv."
        )


def _install() -> None:
    print(f"Installing {LOCK.relative_to(ROOT)} …", flush=True)
    uv = shutil.which("uv") or _existing(VENV / "bin" / "uv")
    if uv is not None and _install_with_uv(uv):
        return
    python = str(venv_python())
    if subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        ensure = [python, "-m", "ensurepip", "--default-pip"]
        subprocess.run(ensure, capture_output=True, check=False)
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"]
    done = subprocess.run([python, "-m", "pip", "install", *options, "-r", str(LOCK)], check=False)
    if done.returncode != 0:
        raise SetupFailed(
            "The locked dependencies could not be installed; the lines above say why. "
            "Without a network, point pip or uv at a local index and run this again."
        )


def _install_with_uv(uv: str) -> bool:
    options = ["--quiet", "--python", str(venv_python()), "--require-hashes"]
    done = subprocess.run([uv, "pip", "install", *options, "-r", str(LOCK)], check=False)
    if done.returncode != 0:
        print("uv did not manage; trying pip …", flush=True)
    return done.returncode == 0


def _existing(path: Path) -> str | None:
    return str(path) if path.exists() else None


def _site_packages() -> Path:
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run(
        [str(venv_python()), "-c", query], capture_output=True, text=True, check=True
    )
    return Path(done.stdout.strip())
