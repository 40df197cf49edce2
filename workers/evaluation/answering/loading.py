"""Load conversations for the mode `memory`: a namespace for each system seed and conversation.

What one seed's answers reinforce must not change what the next one finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from workers.evaluation.answering.memory_tools import MemoryTools
from workers.evaluation.client import Loading, await_derived, load_conversation
from workers.evaluation.question_set import Conversation


def loaded_tools(
    client: httpx.Client,
    conversations: Sequence[Conversation],
    *,
    prefix: str,
    seeds: Sequence[int],
    shown: int,
    characters: int,
) -> dict[tuple[int, str], MemoryTools]:
    """Store each conversation once a seed, wait for its events, and return the tools of each.

    A second run stores nothing twice. Raises Refused, or Unavailable where no worker derives.
    """
    tools = {}
    for seed in seeds:
        loading = Loading(f"{prefix}-answers-{seed}", events=True)
        for conversation in conversations:
            loaded = load_conversation(client, conversation, loading)
            tools[seed, conversation.id] = MemoryTools(client, loaded.namespace, shown, characters)
    for one in tools.values():
        await_derived(client, one.namespace)
    return tools
