"""The prompt that looks for memories in an import's text that is no export as it stands."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from shared.domain.budget import estimate_tokens
from shared.domain.external_memory import MAX_CANDIDATES
from workers.models.inputs import ImportRecoverInput
from workers.models.port import Prompt, ReplyRoom
from workers.models.reply_schema import COUNTED_BY
from workers.prompts.rendering import (
    DATA_RULE,
    REPLY_RULE,
    ReplyModel,
    data_section,
    rules_of,
)

VERSION: Final = "import_recover/2"
_FEWEST: Final = 4
_TOKENS_A_MEMORY: Final = 8


class RecoveredCandidate(ReplyModel):
    """One memory as it stands in the text."""

    title: str = Field(max_length=160)
    summary: str = Field(max_length=1000)
    tags: list[Annotated[str, Field(max_length=40)]] = Field(max_length=5)
    quotes: list[Annotated[str, Field(max_length=500)]] = Field(max_length=3)


class RecoverReply(ReplyModel):
    """What the reader of a broken text answers."""

    candidates: list[RecoveredCandidate] = Field(json_schema_extra={COUNTED_BY: "candidates"})


_SYSTEM: Final = f"""\
A person pasted what another assistant remembers about them. It was to be JSON, but it is broken, \
cut off, or plain notes. Find the memories that stand in it.

{DATA_RULE}

For each memory that is whole, give title (a short phrase), summary (one sentence that stands on \
its own, with the names, numbers and dates of the text), tags (none to five) and quotes (the words \
of the text that say it, verbatim). One fact a candidate. Leave out what breaks off in the middle, \
headings, and remarks about the export itself. Add nothing, guess no date, resolve no "next week". \
Two memories that contradict each other are two candidates. If there is nothing, candidates is an \
empty list.

{REPLY_RULE}"""


def render(material: ImportRecoverInput) -> Prompt:
    """Return the prompt for one part of a text."""
    user = "\n".join([*rules_of(material), data_section({"text": material.text})])
    return Prompt(version=VERSION, system=_SYSTEM, user=user)


def room_of(material: ImportRecoverInput) -> ReplyRoom:
    """Return how many memories a text of this size can hold."""
    holds = max(_FEWEST, estimate_tokens(material.text) // _TOKENS_A_MEMORY)
    return ReplyRoom(most={"candidates": min(MAX_CANDIDATES, holds)})
