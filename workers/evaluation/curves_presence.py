"""What of a conversation still stands in its context: verbatim, and by its words.

A message counts as *verbatim* where its whole text stands there, white space aside; as *told* where
at least half of its distinct search terms stand in the block that holds it, at its level.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from shared.domain.budget import estimate_tokens
from shared.domain.layers import render_l5
from shared.domain.search_terms import search_terms
from shared.domain.spacing import collapse, trim
from shared.domain.turns import Message as SaidMessage
from shared.domain.turns import Role
from workers.evaluation.question_set import Conversation, Question

TOLD_SHARE: Final = 0.5
"""The share of a message's terms from which it counts as told."""

AGE_BOUNDS: Final = (0, 12, 24, 48, 96, 192, 384, 768, 1536, 3072)
"""Where the classes of age begin, in turns since the evidence was said."""

MEASURES: Final = ("verbatim_all", "verbatim_any", "told_all", "told_any")


@dataclass(frozen=True, slots=True)
class Size:
    """Estimated tokens of a context by part, beside the whole history so far (L5 of all turns)."""

    history: int
    blocks: int
    headers: int
    tail: int
    background: int

    @property
    def context(self) -> int:
        """All of the context."""
        return self.blocks + self.headers + self.tail + self.background


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of one question's evidence at one time; `age` in turns since its oldest part."""

    question: str
    age: int
    verbatim_all: bool
    verbatim_any: bool
    told_all: bool
    told_any: bool


def size_of(context: Mapping[str, Any], conversation: Conversation, *, turns: int) -> Size:
    """Return what a context costs after so many turns, and what the whole history would."""
    said = [
        SaidMessage(id=message.id, role=Role(message.role), content=message.text)
        for turn in conversation.turns[:turns]
        for message in turn.messages
    ]
    tail = [
        SaidMessage(id=card["message_id"], role=Role(card["role"]), content=card["content"])
        for card in context["open_tail"]
    ]
    return Size(
        history=estimate_tokens(render_l5(said)),
        blocks=sum(block["tokens"] for block in context["blocks"]),
        headers=sum(estimate_tokens(block["header"]) for block in context["blocks"]),
        tail=estimate_tokens(render_l5(tail)),
        background=context["activated"]["tokens"],
    )


def kept_evidence(
    context: Mapping[str, Any], conversation: Conversation, *, turns: int
) -> list[Kept]:
    """Return what the context holds for every answerable question whose evidence has been said.

    Turns are counted from 1 in the order in which they were posted, all to one thread.
    """
    said = {
        message.id: (number, message.text)
        for number, turn in enumerate(conversation.turns[:turns], start=1)
        for message in turn.messages
    }
    shown = _shown(context)
    due = [
        q for q in conversation.questions if q.answerable and q.evidence and q.evidence <= {*said}
    ]
    wanted = {name for question in due for name in question.evidence}
    stands = {name: _stands(said[name][1], shown.get(said[name][0])) for name in wanted}
    return [
        _kept(question, stands, turns - min(said[n][0] for n in question.evidence))
        for question in due
    ]


def by_age(kept: Iterable[Kept]) -> Iterator[dict[str, Any]]:
    """Yield each class of age that has questions, youngest first, with the shares that remain.

    `questions` counts different ones, `times` how often they were looked at.
    """
    classes: dict[int, list[Kept]] = defaultdict(list)
    for one in kept:
        classes[max(bound for bound in AGE_BOUNDS if bound <= one.age)].append(one)
    ends = dict(pairwise(AGE_BOUNDS))
    for bound in sorted(classes):
        end = ends.get(bound)
        yield {"from": bound, "to": None if end is None else end - 1} | shares(classes[bound])


def shares(kept: Sequence[Kept]) -> dict[str, Any]:
    """Return the share of each measure over what was looked at; None where nothing was."""
    told: dict[str, Any] = {"questions": len({one.question for one in kept}), "times": len(kept)}
    for measure in MEASURES:
        held = sum(getattr(one, measure) for one in kept)
        told[measure] = round(held / len(kept), 4) if kept else None
    return told


def _shown(context: Mapping[str, Any]) -> dict[int, str]:
    """Return the text that stands for each turn of the thread."""
    shown: dict[int, str] = {}
    for block in context["blocks"]:
        first, last = block["turn_range"]
        # Titles and tags stand in the header too.
        text = collapse(f"{block['header']}\n{block['content']}")
        shown |= dict.fromkeys(range(first, last + 1), text)
    for card in context["open_tail"]:
        before = shown.get(card["turn"], "")
        shown[card["turn"]] = f"{before} {collapse(card['content'])}"
    return shown


def _stands(text: str, shown: str | None) -> tuple[bool, bool]:
    """Tell whether a message stands verbatim, and whether it is told."""
    if shown is None:
        return False, False
    if collapse(trim(text)) in shown:
        return True, True
    terms = _terms(text)
    return False, bool(terms) and len(terms & _terms(shown)) >= TOLD_SHARE * len(terms)


@lru_cache(maxsize=4_096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(search_terms(text))


def _kept(question: Question, stands: Mapping[str, tuple[bool, bool]], age: int) -> Kept:
    verbatim = [stands[name][0] for name in question.evidence]
    told = [stands[name][1] for name in question.evidence]
    return Kept(question.id, age, all(verbatim), any(verbatim), all(told), any(told))
