"""An embedder that knows a few concepts: words of one concept give the same direction.

Deterministic and in-process: what a real model does by training, this does by a table, so that a
test can say which texts are alike though they share no word.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shared.embeddings.port import Vector

CONCEPTS = (
    ("dog", "puppy", "hound", "狗", "小狗", "犬"),
    ("doctor", "physician", "clinic", "医生", "看病", "大夫"),
    ("car", "vehicle", "automobile", "汽车", "车子", "开车"),
    ("salary", "wage", "pay", "工资", "薪水", "收入"),
    ("home", "house", "apartment", "房子", "住处", "搬家"),
    ("sad", "unhappy", "gloomy", "难过", "伤心", "沮丧"),
)
_WORD = re.compile(r"[a-z]+|[\u4e00-\u9fff]")


def concept_vector(text: str, dimension: int) -> list[float]:
    """Return a vector: one number a concept, the rest a faint trace of the other words."""
    vector = [0.0] * dimension
    lowered = text.lower()
    for place, words in enumerate(CONCEPTS):
        vector[place] += 3.0 * any(word in lowered for word in words)
    for word in _WORD.findall(lowered):
        digest = hashlib.sha256(word.encode()).digest()
        vector[len(CONCEPTS) + digest[0] % (dimension - len(CONCEPTS))] += 0.3
    if not any(vector):
        vector[-1] = 1.0
    return vector


@dataclass(slots=True)
class ConceptEmbedder:
    """The embedder. `before` is called with the texts of each request, to fail or to wait."""

    model: str = "fake:concepts"
    dimension: int = 24
    before: Callable[[Sequence[str]], None] | None = None
    requests: list[list[str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def load(self) -> None:
        """Nothing to load."""

    def passages(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Return the vectors of texts."""
        with self._lock:
            self.requests.append(list(texts))
        if self.before is not None:
            self.before(texts)
        return [concept_vector(text, self.dimension) for text in texts]

    def query(self, text: str, *, timeout_s: float) -> Vector:
        """Return the vector of a query."""
        return self.passages([text], timeout_s=timeout_s)[0]
