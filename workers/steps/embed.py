"""Give every message and event of a namespace that has none a vector of the current model.

One job a namespace: it takes what there is in passes, stores each pass, and ends once nothing is
left, also of what was stored while it ran. Stopped at any time, the next attempt goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.domain.jobs import (
    STAGE_OFF,
    Cancel,
    Done,
    FailureClass,
    Job,
    JobKind,
    JobState,
    Outcome,
    Snooze,
    ceiling_s,
)
from shared.embeddings.packed import pack
from shared.embeddings.port import Embedder, EmbeddingError
from shared.embeddings.registry import embedder_of, is_on
from shared.settings import Settings
from shared.store.database import ReadTx, WriteTx
from shared.store.vector_reads import embedded_since
from shared.store.vectors import (
    Embedded,
    Unembedded,
    VectorModel,
    await_requests,
    save_vectors,
    without_vector,
)
from workers.models.asking import Asker
from workers.models.port import ModelError
from workers.step import Step, StepContext

VECTORS_OFF: Final = "vectors_off"
MORE_ROWS: Final = "more_rows"
NOTHING_TO_EMBED: Final = "nothing_to_embed"
ROWS_A_PASS: Final = 512

_SHARE_OF_CEILING: Final = 0.6
"""A pass stops taking more when this share of its time is used, so that what it has is stored."""

_OF_THE_TEXT: Final = frozenset({FailureClass.REFUSED, FailureClass.TRUNCATED})
EmbedderOf = Callable[[Settings], Embedder]


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass embeds, with which model, and within which limits."""

    rows: tuple[Unembedded, ...]
    embedder: Embedder = field(repr=False)
    batch: int
    seconds: float


@dataclass(frozen=True, slots=True)
class EmbedDraft:
    """The vectors of one pass."""

    model: VectorModel
    embedded: tuple[Embedded, ...]


def embed_step(embedder: EmbedderOf = embedder_of) -> Step[Pass, EmbedDraft]:
    """Return the step, with the embedder that settings name unless told otherwise."""

    def load(tx: ReadTx, job: Job, context: StepContext) -> Pass | Done | Cancel:
        settings = context.settings
        if not is_on(settings):
            return Done(JobState.SKIPPED, VECTORS_OFF)
        if not context.policy.stages.embed:
            return Done(JobState.SKIPPED, STAGE_OFF)
        chosen = _usable(embedder, settings)
        rows = without_vector(
            tx,
            job.namespace,
            VectorModel(chosen.model, chosen.dimension),
            derivation_version=context.derivation_version,
            limit=ROWS_A_PASS,
        )
        seconds = ceiling_s(job.kind, most_s=settings.step_deadline_s)
        return Pass(tuple(rows), chosen, settings.embeddings_batch, seconds)

    return Step(JobKind.EMBED, None, load, think, store)


def think(work: Pass, _asker: Asker) -> EmbedDraft:
    """Embed the rows, batch by batch; a text that the model refuses gets no vector."""
    model = VectorModel(work.embedder.model, work.embedder.dimension)
    begun = time.monotonic()
    found: list[Embedded] = []
    for start in range(0, len(work.rows), work.batch):
        used = time.monotonic() - begun
        if found and used > _SHARE_OF_CEILING * work.seconds:
            break
        try:
            batch = work.rows[start : start + work.batch]
            found += _embedded(work.embedder, batch, timeout_s=work.seconds - used)
        except EmbeddingError as error:
            if found and error.failure_class is FailureClass.TRANSIENT:
                break  # what has come is stored; the next pass meets the error first
            raise _as_model_error(error) from None
    return EmbedDraft(model, tuple(found))


def store(tx: WriteTx, job: Job, draft: EmbedDraft, context: StepContext) -> Outcome:
    """Store the vectors, and end once nothing is left, seen while nobody can ask for more."""
    save_vectors(tx, job.namespace, draft.model, draft.embedded)
    await_requests(tx, job.namespace)
    left = without_vector(
        tx,
        job.namespace,
        draft.model,
        derivation_version=context.derivation_version,
        limit=1,
    )
    if left:
        return Snooze(0.0, MORE_ROWS)
    made, refused = embedded_since(tx, job.namespace, draft.model, since=job.created_at)
    result = {"model": draft.model.name, "dimension": draft.model.dimension, "vectors": made}
    if refused:
        rejections = tuple({"id": name, "reason": "refused_by_model"} for name in refused)
        return Done(JobState.DEGRADED, "texts_refused", result, rejections)
    if not made:
        return Done(JobState.SUCCEEDED_EMPTY, NOTHING_TO_EMBED, result)
    return Done(result=result)


def _embedded(
    embedder: Embedder, rows: Sequence[Unembedded], *, timeout_s: float
) -> list[Embedded]:
    """Embed one batch; where a text spoils it, the halves are tried apart."""
    until = time.monotonic() + timeout_s
    try:
        vectors = embedder.passages([row.text for row in rows], timeout_s=timeout_s)
        return [
            Embedded(row.kind, row.source_id, row.thread_id, _packed(vector, embedder.dimension))
            for row, vector in zip(rows, vectors, strict=True)
        ]
    except EmbeddingError as error:
        if error.failure_class not in _OF_THE_TEXT:
            raise
        if len(rows) == 1:
            return [Embedded(rows[0].kind, rows[0].source_id, rows[0].thread_id, None)]
    middle = len(rows) // 2
    return [
        one
        for half in (rows[:middle], rows[middle:])
        for one in _embedded(embedder, half, timeout_s=until - time.monotonic())
    ]


def _packed(vector: Sequence[float], dimension: int) -> bytes | None:
    try:
        return pack(vector, dimension=dimension)
    except EmbeddingError as error:
        if error.code == "no_direction":
            return None
        raise


def _usable(embedder: EmbedderOf, settings: Settings) -> Embedder:
    try:
        return embedder(settings)
    except EmbeddingError as error:
        raise _as_model_error(error) from None


def _as_model_error(error: EmbeddingError) -> ModelError:
    return ModelError(
        error.failure_class, error.code, error.detail, retry_after_s=error.retry_after_s
    )


STEP: Final = embed_step()
