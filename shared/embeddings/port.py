"""The embedding port: texts in, one vector each out, and one kind of error.

A model's name is stored beside each of its vectors: vectors of other names are never compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, Protocol

from shared.domain.jobs import FailureClass

LONGEST_TEXT: Final = 2_000
"""Code points of a text that are embedded; the rest of a longer one is found by its words."""

Vector = Sequence[float]


class EmbeddingError(Exception):
    """No vectors came.

    `failure_class` decides what a job does next; `code` is stable and short, also shown to
    readers; `detail` holds no secret and no user text. With `retry_after_s` waiting helps.
    """

    def __init__(
        self,
        failure_class: FailureClass,
        code: str,
        detail: str,
        *,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.failure_class = failure_class
        self.code = code
        self.detail = detail
        self.retry_after_s = retry_after_s


class Embedder(Protocol):
    """A model behind the port."""

    @property
    def model(self) -> str:
        """The name that is stored with each vector, with the provider's in front."""
        ...

    @property
    def dimension(self) -> int:
        """The length of each vector."""
        ...

    def load(self) -> None:
        """Get ready, once: check and load what is needed. Raises EmbeddingError."""
        ...

    def passages(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Return a vector for each text that may be found, in order. Raises EmbeddingError."""
        ...

    def query(self, text: str, *, timeout_s: float) -> Vector:
        """Return the vector of what is looked for. Raises EmbeddingError."""
        ...


def unusable(code: str, detail: str) -> EmbeddingError:
    """Return the error of what no second attempt mends: a setting, a package, a processor."""
    return EmbeddingError(FailureClass.PERMANENT, code, detail)


def installed(package: str, *, extra: str) -> Any:
    """Import a package that only some installations have, in the process that embeds.

    Raises EmbeddingError (`package_missing`) naming the extra that brings it.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise unusable(
            "package_missing",
            f"{package} is not installed ({type(error).__name__}): "
            f"install stratagate with the extra `{extra}`",
        ) from None
