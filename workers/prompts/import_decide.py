"""The prompt that decides one candidate of an import against what is remembered already."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from shared.domain.external_memory_stored import candidate_to_json
from workers.models.inputs import ImportDecideInput
from workers.models.port import Prompt, ReplyRoom
from workers.models.reply_schema import NAMED_BY
from workers.prompts.rendering import (
    DATA_RULE,
    REPLY_RULE,
    ReplyModel,
    data_section,
    rules_of,
    time_view,
)

VERSION: Final = "import_decide/2"

Existing = Annotated[str, Field(json_schema_extra={NAMED_BY: "event"})]


class MergedCandidate(ReplyModel):
    """The one text that takes the place of a candidate and of what it is merged with."""

    title: str = Field(max_length=160)
    summary: str = Field(max_length=2000)


class DecideReply(ReplyModel):
    """What the decider answers."""

    action: Literal["ADD", "MERGE", "SUPERSEDE", "CONFLICT", "IGNORE"]
    existing_event_ids: list[Existing] = Field(max_length=20)
    confidence: float
    reason: str = Field(max_length=240)
    merged_candidate: MergedCandidate | None


_SYSTEM: Final = f"""\
A person brings memories from another assistant. You see one of them, the candidate, and the \
existing memories that resemble it most. Decide what becomes of the candidate.

{DATA_RULE}

Choose one action:
- ADD: it says something that no existing memory says. Being about the same person or project is \
no reason against it.
- IGNORE: an existing memory already says all of it, or there is nothing in it to remember.
- MERGE: it and existing memories are the same statement, each with details that the other lacks. \
Give mergedCandidate: one title and summary that keep every detail of both and add none.
- SUPERSEDE: it and an existing memory give one thing two values, and it is clear from times or \
words that the candidate's came later. A plan that was carried out is superseded by its outcome.
- CONFLICT: both cannot be true, and nothing tells which of them holds.

existingEventIds holds the eventId of each existing memory that MERGE, SUPERSEDE or CONFLICT is \
about, copied exactly; no positions and no other ids. It is empty for ADD. Never take the order of \
the list for an order in time; a candidate without a time may be older than what is remembered.

confidence is between 0 and 1: how sure you are that a careful person would choose the same. \
When two actions are plausible, stay below 0.85, and a person will decide. reason is one sentence. \
mergedCandidate is null unless the action is MERGE.

{REPLY_RULE}"""


def render(material: ImportDecideInput) -> Prompt:
    """Return the prompt for one candidate."""
    payload = {
        "candidate": candidate_to_json(material.candidate),
        "existing": [
            {
                "eventId": match.event_id,
                "title": match.title,
                "summary": match.summary,
                "status": match.status,
                **time_view(match.time),
            }
            for match in material.matches
        ],
    }
    user = "\n".join([*rules_of(material), data_section(payload)])
    return Prompt(version=VERSION, system=_SYSTEM, user=user)


def room_of(material: ImportDecideInput) -> ReplyRoom:
    """Return which existing memories a decision may name."""
    return ReplyRoom({"event": tuple(match.event_id for match in material.matches)})
