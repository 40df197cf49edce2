"""What can go wrong with the local stack, told so that a person knows what to do next."""

from __future__ import annotations


class LocalFault(Exception):
    """Something on this machine keeps the local stack from running; the text is for people."""


class FolderInUse(LocalFault):
    """Another process holds the data folder."""


class PortTaken(LocalFault):
    """The port that was asked for belongs to another process."""


class Interrupted(LocalFault):
    """The person asked to stop while the stack was still starting."""


class ServerFailed(LocalFault):
    """An embedded server did not start or did not stop; the text ends with its last log lines."""


def log_tail(path_text: str, lines: list[str], count: int = 15) -> str:
    """Return the last `count` lines of a log below its path, for the end of an error."""
    shown = "\n".join(f"    {line.rstrip()}" for line in lines[-count:])
    return f"Last lines of {path_text}:\n{shown}" if shown else f"{path_text} is empty."
