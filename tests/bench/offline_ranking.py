"""The product's ranking on labelled conversations without servers: its pure code on a file.

Candidates are found as the database finds them: the best 200 by their own words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from retrieval.vector_lane import MeaningLane
from shared.domain.bm25 import Bm25Stats, score_document
from shared.domain.locomo import LocomoQuestion, locomo_questions, locomo_turns
from shared.domain.ranking.meaning import Likeness
from shared.domain.ranking.messages import Ranked, rank_messages
from shared.domain.ranking.question import Asked, read_question
from shared.domain.ranking.said import Said
from shared.domain.search_terms import search_terms

CANDIDATES = 200


class OfflineMemory:
    """One conversation, searchable as raw search searches it."""

    def __init__(self, sample: Mapping[str, Any], *, block_turns: int = 6) -> None:
        self.name: str = sample["sample_id"]
        self.questions: list[LocomoQuestion] = locomo_questions(sample)
        self.block_of: dict[str, str] = {}
        self._messages: list[Said] = []
        self._counts: dict[str, Counter[str]] = {}
        self._read(sample, block_turns)
        self._frequencies = Counter(t for held in self._counts.values() for t in held)
        self._postings: dict[str, list[int]] = {}
        for place, said in enumerate(self._messages):
            for term in self._counts[said.id]:
                self._postings.setdefault(term, []).append(place)
        self._place_of = {said.id: place for place, said in enumerate(self._messages)}
        self._by_turn: dict[int, list[int]] = {}
        for place, said in enumerate(self._messages):
            self._by_turn.setdefault(said.turn, []).append(place)

    @property
    def said(self) -> list[Said]:
        """The messages, in order."""
        return self._messages

    def search(
        self, question: str, *, cosines: Mapping[str, float] | None = None
    ) -> tuple[Asked, list[Ranked]]:
        """Return what a question was read as, and all candidates, best first.

        `cosines` are those of the question's vector with each message's, by id.
        """
        asked = read_question(question)
        stats = Bm25Stats(
            document_count=len(self._messages),
            average_length=sum(m.length for m in self._messages) / len(self._messages),
            document_frequencies={t: self._frequencies[t] for t in asked.terms},
        )
        lane = None if not cosines else Likeness(cosines, min(cosines.values()))
        nearest = MeaningLane(lane).nearest
        candidates = self._candidates(asked, stats, nearest)
        return asked, rank_messages(asked, candidates, stats=stats, likeness=lane)

    def _candidates(
        self, asked: Asked, stats: Bm25Stats, nearest: Sequence[str] = ()
    ) -> list[Said]:
        places = {p for term in asked.terms for p in self._postings.get(term, ())}
        scores = {place: self._own_score(place, asked, stats) for place in places}
        best = sorted(scores, key=lambda place: (-scores[place], -place))[:CANDIDATES]
        best += [self._place_of[name] for name in nearest]
        turns = {self._messages[place].turn + step for place in best for step in (-1, 0, 1)}
        return [
            self._asked(place, asked)
            for turn in sorted(turns)
            for place in self._by_turn.get(turn, ())
        ]

    def _own_score(self, place: int, asked: Asked, stats: Bm25Stats) -> float:
        said = self._asked(place, asked)
        return score_document(said.held, said.length, stats=stats, query_weights=asked.terms)

    def _asked(self, place: int, asked: Asked) -> Said:
        said = self._messages[place]
        counts = self._counts[said.id]
        held = {term: float(counts[term]) for term in asked.terms if term in counts}
        return Said(
            said.id,
            said.thread,
            said.turn,
            said.position,
            said.role,
            said.speaker,
            said.said_at,
            said.content,
            held,
            said.length,
        )

    def _read(self, sample: Mapping[str, Any], block_turns: int) -> None:
        blocks = count(1)
        block, held = f"block-{next(blocks)}", 0
        for number, turn in enumerate(locomo_turns(sample), start=1):
            for position, message in enumerate(turn.body["messages"]):
                said = _said(turn.body, message, number, position)
                self._counts[said.id] = Counter(search_terms(said.content))
                self._messages.append(said)
                self.block_of[said.id] = block
            held += 1
            if turn.ends_session or held == block_turns:
                block, held = f"block-{next(blocks)}", 0


def load_memories(file: Path) -> list[OfflineMemory]:
    """Return the conversations of a LoCoMo file."""
    return [OfflineMemory(sample) for sample in json.loads(file.read_text(encoding="utf-8"))]


def _said(body: Mapping[str, Any], message: Mapping[str, Any], turn: int, position: int) -> Said:
    return Said(
        id=message["metadata"]["dia_id"],
        thread=body["thread_id"],
        turn=turn,
        position=position,
        role=message["role"],
        speaker=message["name"],
        said_at=datetime.fromisoformat(body["occurred_at"]),
        content=message["content"],
        held={},
        length=float(len(search_terms(message["content"]))),
    )
