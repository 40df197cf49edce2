"""The fast ranking of messages equals the plain one, over conversations made up by a seed."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.bm25 import Bm25Stats
from shared.domain.ranking.messages import rank_messages
from shared.domain.ranking.question import Asked, read_question
from shared.domain.ranking.said import Said
from shared.domain.search_terms import search_terms
from tests.unit.domain.plain_ranking import plainly_ranked

_NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
_WORDS = [
    *("telescope", "attic", "lens", "garden", "gate", "dog", "harbour", "bread", "violin"),
    *("lesson", "train", "ticket", "brown", "market", "yesterday", "last", "week", "birthday"),
    *("望远镜", "阁楼", "花园", "昨天", "面包"),
]
_NAMES = ("Ann", "Bo", None)
_QUESTIONS = (
    "Where is the telescope lens?",
    "When did Ann sell the violin at the market?",
    "What did you say about the brown dog?",
    "What happened in March 2026 with my train ticket?",
    "Ann and Bo in the garden",
    "望远镜在阁楼吗？",
    "什么时候去花园？",
    "harbour",
    "nothing of this is here, unless bread",
)


def conversation(seed: int) -> list[Said]:
    chance = random.Random(seed)  # noqa: S311 - repeatable talk
    said: list[Said] = []
    for thread in ("one", "two", "three"):
        moment = _NOON + timedelta(days=chance.randrange(60))
        for turn in range(1, 40):
            moment += timedelta(hours=chance.choice((0, 0, 1, 7, 200)))
            if chance.random() < 0.15:
                continue  # a turn that is not loaded
            for position in range(chance.choice((1, 2, 2, 3))):
                words = chance.choices(_WORDS, k=chance.choice((2, 8, 30, 90)))
                ends = chance.choice((".", "?", "!", "？", "", ". Is it? Yes."))
                said.append(_said(thread, turn, position, " ".join(words) + ends, moment, chance))
    return said


def _said(
    thread: str, turn: int, position: int, content: str, moment: datetime, chance: random.Random
) -> Said:
    return Said(
        id=f"{thread}-{turn}-{position}",
        thread=thread,
        turn=turn,
        position=position,
        role=("user", "assistant")[position % 2],
        speaker=chance.choice(_NAMES),
        said_at=chance.choice((moment, moment, moment, None)),
        content=content,
        held=Counter(search_terms(content)),
        length=float(len(search_terms(content))),
        events=chance.choice((0.0, 0.0, 0.0, 2.5)),
    )


def asked_of(asked: Asked, said: Said) -> Said:
    held = {t: float(said.held[t]) for t in asked.terms if t in said.held}
    return said._replace(held=held)


@pytest.mark.parametrize("question", _QUESTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_each_message_has_the_place_the_score_and_the_signals_of_the_plain_form(
    question: str, seed: int
) -> None:
    talk = conversation(seed)
    asked = read_question(question)
    stats = Bm25Stats(
        document_count=len(talk),
        average_length=sum(m.length for m in talk) / len(talk),
        document_frequencies=Counter(t for m in talk for t in m.held),
    )
    candidates = [asked_of(asked, m) for m in talk]
    plain = plainly_ranked(asked, candidates, stats)
    found = rank_messages(asked, candidates, stats=stats)
    assert len(plain) > 10
    assert [one.said.id for one in found] == [name for name, _, _ in plain]
    for one, (_, score, signals) in zip(found, plain, strict=True):
        assert one.score == pytest.approx(score, abs=1e-9)
        assert one.signals == pytest.approx(signals, abs=1e-9)
