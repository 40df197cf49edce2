"""The programs of the how-to pages, run as they stand, with a model that follows a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.integration.retrieval.world import NS, World
from tests.support.databases import Tenant

HOWTO = Path(__file__).resolve().parents[3] / "docs" / "howto"
Json = dict[str, Any]
Step = Callable[[Json], Json]


def program_of(page: str) -> Json:
    """Run all Python blocks of a page as one program and return its names."""
    text = (HOWTO / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks, page
    names: Json = {"__name__": page}
    exec(compile("\n\n".join(blocks), page, "exec"), names)  # noqa: S102 - our own page
    return names


class ScriptedModel:
    """Takes one step a call; a step sees the last tool result and gives calls or an answer."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.seen: list[tuple[list[Json], list[Json]]] = []

    def __call__(self, messages: list[Json], functions: list[Json]) -> Json:
        self.seen.append((list(messages), functions))
        results = [json.loads(m["content"]) for m in messages if m["role"] == "tool"]
        return self.steps.pop(0)(results[-1] if results else {})


def calling(name: str, **arguments: Any) -> Step:
    return lambda _last: _message(name, arguments)


def saying(text: str) -> Step:
    return lambda _last: {"role": "assistant", "content": text}


def _message(name: str, arguments: Json) -> Json:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"call_{name}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def judge_sufficient(last: Json) -> Json:
    refs = [last["items"][0]["evidence_ref"]]
    asked = {"verdict": "sufficient", "evidence_refs": refs, "next_strategy": "answer"}
    return _message("memory_assess", asked)


def record(last: Json) -> Json:
    return _message("memory_record_use", {"evidence_refs": last["evidence_refs"]})


@pytest.fixture
def http(served: str, tenant: Tenant) -> Iterator[httpx.Client]:
    """A client as the page makes it: with the agent's key."""
    with httpx.Client(base_url=served, headers=tenant.headers, timeout=30) as client:
        yield client


@pytest.fixture
def loop() -> Json:
    return program_of("agent-loop.md")


def test_the_loop_looks_judges_looks_again_records_and_answers(
    loop: Json, http: httpx.Client, world: World
) -> None:
    world.block("We decided to use pnpm in Orion.", thread_id="meeting")
    memory = loop["Memory"](http, NS, "chat-7")
    model = ScriptedModel(
        calling("memory_search_events", query="package manager of Orion"),
        calling("memory_assess", verdict="wrong", next_strategy="search_raw_memory"),
        calling("memory_search_raw", query="pnpm Orion"),
        judge_sufficient,
        record,
        saying("Orion uses pnpm."),
    )

    said = loop["answer"](model, memory, "Which package manager?", receipt_id="turn-12")

    assert said == "Orion uses pnpm."
    assert model.steps == []
    assert model.seen[0][0][0]["content"] == memory.instructions
    offered = {function["function"]["name"] for function in model.seen[0][1]}
    assert "memory_assess" in offered
    assert NS not in json.dumps(model.seen[0]), "the model is not told the namespace"
    audit = world.see("usage-audit")["items"][0]
    assert audit["answer"]["turn_receipt_id"] == "turn-12"
    stored = world.ask("raw/search", {"query": "Which package manager"})["items"]
    assert "chat-7" in {item["thread_id"] for item in stored}


def test_a_spent_budget_ends_without_tools_and_with_stated_uncertainty(
    loop: Json, http: httpx.Client, world: World
) -> None:
    world.block("We decided to use pnpm in Orion.", thread_id="meeting")
    memory = loop["Memory"](http, NS, "chat-8")
    model = ScriptedModel(
        calling("memory_search_raw", query="telescope"),
        calling("memory_assess", verdict="wrong"),
        calling("memory_search_events", query="telescope"),
        saying("I found nothing about a telescope, so I am not certain there is one."),
    )

    said = loop["answer"](model, memory, "Where is the telescope?", receipt_id="turn-1", budget=2)

    assert "not certain" in said
    messages, functions = model.seen[-1]
    assert functions == []
    assert messages[-1]["role"] == "user", "what quotes memories is no system message"
    assert "say plainly what is uncertain or missing" in messages[-1]["content"]
    assert "telescope" in messages[-1]["content"]


def test_a_model_reads_what_it_did_wrong_and_goes_on(
    loop: Json, http: httpx.Client, world: World
) -> None:
    world.say("The telescope is in the attic.")
    memory = loop["Memory"](http, NS, "chat-9")
    seen: list[Json] = []

    def corrected(last: Json) -> Json:
        seen.append(last)
        return _message("memory_search_raw", {"query": "telescope"})

    model = ScriptedModel(
        calling("memory_search_raw", qeury="telescope"), corrected, saying("In the attic.")
    )
    assert loop["answer"](model, memory, "Where?", receipt_id="turn-1") == "In the attic."
    assert (seen[0]["code"], seen[0]["errors"][0]["pointer"]) == (
        "unknown_field",
        "/arguments/qeury",
    )


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "null"])
def test_arguments_that_are_no_object_are_read_as_none(loop: Json, arguments: str) -> None:
    call = {"function": {"name": "memory_get_blocks", "arguments": arguments}}
    assert loop["read"](call) == ("memory_get_blocks", {})


def test_the_client_of_the_mcp_page_finds_what_was_said(served: str, world: World) -> None:
    search = program_of("mcp-clients.md")["search"]
    world.say("The telescope is in the attic.")
    found = anyio.run(search, served, world.tenant.admin_key, NS, "telescope")
    assert found["items"][0]["message"]["content"] == "The telescope is in the attic."
    with pytest.raises(RuntimeError, match="ids and refs"):
        anyio.run(search, served, world.tenant.admin_key, "project:nobodys", "telescope")


@pytest.mark.parametrize("page", ["mcp-clients.md", "agent-loop.md"])
def test_the_json_of_the_pages_is_json(page: str) -> None:
    text = (HOWTO / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        json.loads(block)
