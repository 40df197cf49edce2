"""The programs of the how-to pages that need the whole system, or none of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.domain.jobs import FailureClass
from tests.docs.programs import blocks_of
from tests.integration.tools.test_howto import program_of
from tests.support.stack import RunningSystem
from workers.models.inputs import SummarizeInput
from workers.models.port import ModelError, ModelTask, Prompt, TaskKind
from workers.prompts.summarize import SummarizeReply

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto"
NS = "project:howto"
SAID = [f"Task {n}: we decided to use tool {n} in Orion." for n in range(1, 5)]


def own(said: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}]


@pytest.mark.timeout(240)
def test_blocks_stand_in_place_of_exactly_their_turns(running: RunningSystem) -> None:
    loop = program_of("agent-loop.md")
    http = running.client(running.new_tenant("host").admin_key)
    http.put(f"/v1/namespaces/{NS}", json={"block_turn_size": 1}).raise_for_status()
    memory = loop["Memory"](http, NS, "chat-1")
    history = [
        (memory.remember(f"turn-{n}", said, "Noted."), own(said)) for n, said in enumerate(SAID)
    ]

    def all_ready() -> Any:
        blocks = memory.context("")["blocks"]
        return len(blocks) == 4 and {block["status"] for block in blocks} == {"ready"}

    running.wait_until(all_ready, "all four blocks are ready")
    context = memory.context("Which tool?")
    levels = [block["level"] for block in context["blocks"]]  # by the order they became ready in
    assert 0 < sum(level < 5 for level in levels) < 4

    messages = loop["condensed"](history, context)

    at = iter(messages)
    for said, block in zip(SAID, context["blocks"], strict=True):
        if block["level"] < 5:
            assert next(at)["content"].splitlines()[1] == block["header"]
        else:
            assert [next(at), next(at)] == own(said)
    assert not list(at)
    begun = loop["opening"](memory, history, "Which tool?")
    assert begun[0] == {"role": "system", "content": memory.instructions}
    assert begun[1:] == [*messages, {"role": "user", "content": "Which tool?"}]


def test_a_block_that_is_not_ready_replaces_nothing() -> None:
    loop = program_of("agent-loop.md")
    block = {"block_id": "blk_1", "turn_ids": ["trn_1"], "level": 3, "status": "pending"}
    assert loop["condensed"]([("trn_1", own("Hello"))], {"blocks": [block]}) == own("Hello")


@pytest.fixture
def adapter() -> Any:
    """The class of the page, as a file of its own would have it."""
    [block] = [
        block for block in blocks_of(HOWTO / "model-adapter.md") if block.language == "python"
    ]
    names: dict[str, Any] = {"__name__": "adapter"}
    code = compile(block.text, "model-adapter.md", "exec", dont_inherit=True)
    exec(code, names)  # noqa: S102 - our own page
    return names["PlainModel"]


def task() -> ModelTask[Any]:
    return ModelTask(
        TaskKind.SUMMARIZE, SummarizeInput(()), Prompt("1", "s", "u"), SummarizeReply, 100, 5.0
    )


def test_the_model_adapter_of_the_page_asks_and_answers(adapter: Any) -> None:
    asked: list[Any] = []

    def provider(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        return httpx.Response(200, json={"text": "{}", "tokens_in": 3, "tokens_out": 1})

    model = adapter("http://models", "small", httpx.MockTransport(provider))
    reply = model.complete(task())
    assert (reply.content, reply.model, reply.usage.input_tokens) == ("{}", "small", 3)
    assert (asked[0]["instructions"], asked[0]["input"]) == ("s", "u")
    assert "properties" in asked[0]["schema"]


@pytest.mark.parametrize(
    ("status", "failure", "wait_s"),
    [
        (429, FailureClass.TRANSIENT, 7.0),
        (503, FailureClass.TRANSIENT, None),
        (401, FailureClass.PERMANENT, None),
    ],
)
def test_the_model_adapter_of_the_page_tells_failures_apart(
    adapter: Any, status: int, failure: FailureClass, wait_s: float | None
) -> None:
    answer = httpx.Response(status, headers={"Retry-After": "7"}, json={})
    model = adapter("http://models", "small", httpx.MockTransport(lambda _request: answer))
    with pytest.raises(ModelError) as caught:
        model.complete(task())
    assert caught.value.failure_class is failure
    assert caught.value.retry_after_s == wait_s
    assert caught.value.code == f"http_{status}"


@pytest.mark.parametrize("page", sorted(HOWTO.glob("*.md")), ids=lambda page: page.stem)
def test_the_json_of_a_page_is_json(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        try:
            json.loads(block)
        except ValueError:
            for line in block.splitlines():
                json.loads(line)
