"""The lines of all processes on one terminal, each with its name in front."""

from __future__ import annotations

import os
import sys
import threading
from typing import TextIO

_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95)
_NAME_WIDTH = 9


class Terminal:
    """Writes whole lines from several threads; colours only where a person looks."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream: TextIO | None = stream or sys.stdout
        self._coloured = self._stream.isatty() and "NO_COLOR" not in os.environ
        self._lock = threading.Lock()
        self._colour_of: dict[str, int] = {}

    def line(self, name: str, text: str) -> None:
        """Print one line of the process `name`; a terminal that went away is no fault."""
        label = f"{name:<{_NAME_WIDTH}}"
        with self._lock:
            if self._stream is None:
                return
            if self._coloured:
                colour = self._colour_of.setdefault(
                    name, _COLOURS[len(self._colour_of) % len(_COLOURS)]
                )
                label = f"\x1b[{colour}m{label}\x1b[0m"
            try:
                self._stream.write(f"{label} | {text}\n")
                self._stream.flush()
            except (BrokenPipeError, ValueError):
                self._stream = None


class SilentTerminal(Terminal):
    """For programs that run the stack: the lines are in the log files alone."""

    def line(self, name: str, text: str) -> None:
        """Print nothing."""
