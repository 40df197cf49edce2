from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from retrieval.mcp.server import Fixed, placed_call
from retrieval.schemas import Request
from retrieval.tools.manifest import TOOLS, Tool, find_tool
from retrieval.tools.reference import render
from shared.domain.tenancy import Permission
from shared.errors import InvalidInput

REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "tools.md"
NINE = {
    "memory_search_events",
    "memory_expand_event",
    "memory_search_graph",
    "memory_expand_graph_node",
    "memory_search_raw",
    "memory_get_blocks",
    "memory_expand_block",
    "memory_assess",
    "memory_record_use",
}
EACH = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def test_the_tools_are_the_nine_and_the_two_of_elements() -> None:
    elements = {"memory_search_elements", "memory_expand_element"}
    assert {tool.name for tool in TOOLS} == NINE | elements


def test_the_reference_is_what_the_manifest_says() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == render(), (
        "write it anew: python3 -m retrieval.tools.reference > docs/reference/tools.md"
    )


@EACH
def test_a_schema_is_plain_and_knows_no_other_field(tool: Tool) -> None:
    schema = tool.parameters
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == _names(tool.arguments) - {"thread_id"}
    assert not {"$ref", "$defs", "title"} & set(_keys(schema))
    assert list(schema["properties"])[: len(schema.get("required", []))] == schema.get(
        "required", []
    )


@EACH
def test_every_argument_is_explained(tool: Tool) -> None:
    for name, field in tool.parameters["properties"].items():
        assert field.get("description"), f"{tool.name}: {name}"


@EACH
def test_a_tool_that_recalls_sends_on_to_the_assessment(tool: Tool) -> None:
    if tool.recalls:
        assert "memory_assess" in tool.description
    assert (tool.permission is Permission.USE) == (tool.name == "memory_record_use")
    assert len(tool.description) < 1_000, "some hosts cut longer ones"


def test_the_schema_of_an_assessment_says_what_is_meant() -> None:
    fields = find_tool("memory_assess").parameters["properties"]
    assert fields["verdict"]["enum"] == ["sufficient", "partial", "wrong"]
    assert "answer" in fields["next_strategy"]["enum"]
    assert fields["evidence_refs"]["type"] == "array"


def test_flat_arguments_are_told_apart_from_namespace_and_thread() -> None:
    given = {"namespace": "n", "thread_id": "t", "query": "q"}
    call = placed_call("memory_search_raw", given, Fixed())
    assert (call.namespace, call.thread_id, call.arguments) == ("n", "t", {"query": "q"})
    assert given == {"namespace": "n", "thread_id": "t", "query": "q"}
    fixed = placed_call("memory_search_raw", {"namespace": None}, Fixed("n", "t"))
    assert (fixed.namespace, fixed.thread_id) == ("n", "t")


@pytest.mark.parametrize(
    ("given", "fixed", "code"),
    [
        ({}, Fixed(), "missing_field"),
        ({"namespace": 1}, Fixed(), "invalid_value"),
        ({"namespace": "other"}, Fixed("n"), "fixed_by_connection"),
        ({"namespace": "n", "thread_id": "other"}, Fixed(None, "t"), "fixed_by_connection"),
    ],
)
def test_a_namespace_that_is_missing_or_not_the_connections_is_refused(
    given: dict[str, Any], fixed: Fixed, code: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        placed_call("memory_search_raw", given, fixed)
    assert raised.value.code == code


def _names(arguments: type[Request]) -> set[str]:
    return {field.alias or name for name, field in arguments.model_fields.items()}


def _keys(part: Any) -> list[str]:
    if isinstance(part, list):
        return [key for item in part for key in _keys(item)]
    if not isinstance(part, dict):
        return []
    # The names of properties are the contract's, not words of the schema language.
    inner = [
        key
        for name, value in part.items()
        for key in (_keys(list(value.values())) if name == "properties" else _keys(value))
    ]
    return [*part, *inner]
