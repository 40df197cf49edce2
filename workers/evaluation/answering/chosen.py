"""Choose some questions by a rule that anybody can repeat: in turn from each category, by hash."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from workers.evaluation.question_set import Conversation, Question


def chosen_questions(
    conversations: Sequence[Conversation], *, count: int | None, seed: int
) -> list[tuple[Conversation, Question]]:
    """Return `count` questions (None: all) with their conversations, in the file's order.

    Within a category the order is that of sha256("seed:id"); the categories take turns, in the
    order of their names, until there are enough. Answerable questions without a reference
    answer cannot be judged and are left out.
    """
    asked = [
        (conversation, question)
        for conversation in conversations
        for question in conversation.questions
        if question.answer is not None or not question.answerable
    ]
    if count is None or count >= len(asked):
        return asked
    by_category: dict[str, list[Question]] = {}
    for _, question in sorted(asked, key=lambda pair: _order(pair[1], seed)):
        by_category.setdefault(question.category, []).append(question)
    turns = [by_category[name] for name in sorted(by_category)]
    taken: set[str] = set()
    for place in range(max(map(len, turns))):
        row = [questions[place].id for questions in turns if place < len(questions)]
        taken.update(row[: count - len(taken)])
    return [pair for pair in asked if pair[1].id in taken]


def _order(question: Question, seed: int) -> str:
    return hashlib.sha256(f"{seed}:{question.id}".encode()).hexdigest()
