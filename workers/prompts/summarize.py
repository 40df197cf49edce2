"""The prompt of the summarize step: levels 0 to 2 of one sealed block."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from workers.models.inputs import SummarizeInput
from workers.models.port import Prompt
from workers.prompts.rendering import (
    DATA_RULE,
    REPLY_RULE,
    ReplyModel,
    data_section,
    message_view,
    rules_of,
)

VERSION: Final = "summarize/3"


class SummarizeReply(ReplyModel):
    """What the summarizer answers."""

    title: str = Field(max_length=120)
    tags: list[Annotated[str, Field(max_length=40)]] = Field(max_length=6)
    summary: str = Field(max_length=1000)
    keypoints: list[Annotated[str, Field(max_length=300)]] = Field(max_length=12)
    should_extract: bool


_SYSTEM: Final = f"""\
You condense one finished stretch of a conversation, so that it can be found and understood \
later without the original. You see this stretch alone; assume nothing about what came before \
or after.

{DATA_RULE}

Write:
- title: a short noun phrase that names the subject, ideally under 60 characters.
- tags: two to five topical labels; no label that would fit any conversation.
- summary: one to three sentences that stand on their own: what happened, what came of it, what \
changed, what is still open.
- keypoints: usually three to eight points, each about one thing and understandable alone. They \
are more specific than the summary and are not the summary cut into pieces.
- shouldExtract: true when anybody told a fact, a preference, a plan, a decision, a result or a \
problem, and true when in doubt: this is a wide sieve. false only where all there is are \
greetings, bare confirmations or throw-away remarks about the process.

Keep decisions, constraints, preferences, personal facts, results, causes of failures and open \
items, with their names, numbers and dates as they were said. Keep who said it: a person stated \
it, the assistant proposed it, a tool reported it. Keep doubt as doubt; a plan is no result. Where \
tool traffic is marked as shortened or omitted, do not guess what stood there. Never leave the \
title or the summary empty, and never write filler in their place.

{REPLY_RULE}"""


def render(material: SummarizeInput) -> Prompt:
    """Return the prompt for one part of a block."""
    payload = {"messages": [message_view(message) for message in material.messages]}
    user = "\n".join([*rules_of(material), data_section(payload)])
    return Prompt(version=VERSION, system=_SYSTEM, user=user)
