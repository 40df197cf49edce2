"""The programs of a page: its `sh` and `python` blocks, run in order as a reader would run them.

A `text` block right after one of them shows what it prints; `…` stands for anything. Blocks of
`console` are what a reader types to begin and to end; they are checked, not run.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

RUN = ("sh", "python")
LIMIT_S = 60
END = "the block has ended"


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block, and what the page says that it prints; None where it does not say."""

    language: str
    text: str
    line: int
    shown: str | None = None


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page that have a language, each with what it prints."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        language, body = match.groups()
        follows = not text[end : match.start()].strip()
        if language == "text" and found and found[-1].language in RUN and follows:
            last = found.pop()
            found.append(Block(last.language, last.text, last.line, shown=body))
        else:
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(language, body, line))
        end = match.end()
    return found


class Reader:
    """A reader at a terminal: one shell environment, one interpreter, one working folder."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self._python: subprocess.Popen[str] | None = None

    def run(self, block: Block) -> str:
        """Run a block and return what it prints; fails where it fails."""
        return self._shell(block.text) if block.language == "sh" else self._paste(block.text)

    def leave(self) -> None:
        """Close the interpreter."""
        if self._python is not None:
            self._python.communicate("exit()\n", timeout=LIMIT_S)

    def _shell(self, text: str) -> str:
        """Run shell lines; what they export holds for the blocks after."""
        done = subprocess.run(  # noqa: S603 - the words of our own pages
            ["/bin/sh", "-euc", f"{text}\nenv -0 > variables"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        pairs = (self.folder / "variables").read_text(encoding="utf-8").split("\0")
        self.environment = dict(pair.split("=", 1) for pair in pairs if pair)
        return done.stdout

    def _paste(self, text: str) -> str:
        """Paste lines at the prompt of the interpreter, which stays open for the next block."""
        errors = self.folder / "errors"
        if self._python is None:
            with errors.open("w", encoding="utf-8") as stderr:
                self._python = subprocess.Popen(
                    [".venv/bin/python", "-i", "-q"],
                    cwd=self.folder,
                    env=self.environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    text=True,
                )
        assert self._python.stdin is not None
        assert self._python.stdout is not None
        self._python.stdin.write(f"{text}print({END!r}, flush=True)\n")
        self._python.stdin.flush()
        printed = "".join(iter(self._python.stdout.readline, f"{END}\n"))
        said = errors.read_text(encoding="utf-8")
        assert "Error" not in said, f"{text}\n{said}"
        return printed


def matches(shown: str, printed: str) -> bool:
    """Tell whether what was printed is what a page shows; a line of … alone is any lines."""
    pattern = re.escape(shown.strip()).replace("…", ".*?")
    return re.fullmatch(pattern, printed.strip(), flags=re.DOTALL) is not None
