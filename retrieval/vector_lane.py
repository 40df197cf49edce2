"""The lane of meaning: which messages or events are most like a query, by their vectors.

A lane may be degraded or silent; the search goes on without it and the reply says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

from retrieval.reader import Reader
from shared.domain.ranking.meaning import Likeness
from shared.embeddings.packed import cosines
from shared.store.database import ReadTx
from shared.store.vector_reads import has_other_models, vectors_in_chunks
from shared.store.vectors import VectorKind, VectorModel

VECTORS: Final = "vectors"
NEAREST: Final = 100
"""How many messages are candidates by their meaning alone."""

OTHER_MODEL: Final = "other_model"
NO_VECTORS: Final = "no_vectors_yet"
PARTIAL: Final = "only_newest_compared"


@dataclass(frozen=True, slots=True)
class DegradedLane:
    """A way to find that did less than it could, or nothing, and why."""

    lane: str
    reason: str


@dataclass(frozen=True, slots=True)
class MeaningLane:
    """What vectors tell of a query; without `likeness` nothing.

    A lane that does not find only scores what others found.
    """

    likeness: Likeness | None = None
    degraded: tuple[DegradedLane, ...] = ()
    finds: bool = True

    @property
    def nearest(self) -> list[str]:
        """The ids most like the query, best first."""
        alike = self._found
        return nlargest(NEAREST, alike, key=lambda name: (alike[name], name))

    @property
    def by_likeness(self) -> list[str]:
        """All compared ids, best first."""
        alike = self._found
        # Two stable sorts take a third of one by pairs; ids come almost in order.
        return sorted(sorted(alike), key=alike.__getitem__, reverse=True)

    @property
    def _found(self) -> Mapping[str, float]:
        return self.likeness.cosines if self.likeness is not None and self.finds else {}


SILENT: Final = MeaningLane()


def meaning_lane(
    tx: ReadTx, reader: Reader, kind: VectorKind, *, threads: Sequence[str] | None = None
) -> MeaningLane:
    """Compare the query with each vector of the namespace, exactly.

    Silent where vectors are off for the installation or the namespace. Model and length are
    checked at each use: vectors of others are not compared, and the lane is then degraded.
    """
    asked = reader.meaning
    if asked is None or not reader.namespace.policy.stages.embed:
        return SILENT
    if asked.packed is None:
        return MeaningLane(None, (DegradedLane(VECTORS, asked.why_none or NO_VECTORS),))
    model = VectorModel(asked.model, asked.dimension)
    alike: dict[str, float] = {}
    chunks = vectors_in_chunks(tx, reader.name, kind, model, threads=threads, limit=asked.scan_rows)
    for ids, packed in chunks:
        alike.update(zip(ids, cosines(asked.packed, packed), strict=True))
    reasons = []
    if has_other_models(tx, reader.name, kind, model):
        reasons.append(OTHER_MODEL)
    elif not alike and kind is VectorKind.MESSAGE and reader.namespace.turn_count:
        reasons.append(NO_VECTORS)
    if len(alike) >= asked.scan_rows:
        reasons.append(PARTIAL)
    likeness = Likeness(alike, lowest=min(alike.values())) if alike else None
    return MeaningLane(likeness, tuple(DegradedLane(VECTORS, reason) for reason in reasons))
