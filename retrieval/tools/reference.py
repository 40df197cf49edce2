"""The page docs/reference/tools.md, made of the manifest; a test holds the page to it.

`python3 -m retrieval.tools.reference` prints it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from retrieval.tools.manifest import DATA_NOTICE, GUIDE, TOOLS, Tool

_HEAD = """\
# Tools

Eleven tools with which an agent remembers: the nine of the gate, and two older ones that show the
same graph as elements. Over REST a tool is `POST /v1/tools/{tool_name}` with

```json
{"namespace": "project:demo", "thread_id": "chat-7", "arguments": {"query": "pnpm"}}
```

and over [MCP](../howto/mcp-clients.md) a tool of the same name, with `namespace` and `thread_id`
beside its arguments. `GET /v1/tools` answers with all of this page as JSON; its `parameters` fit a
model's function calling as they are. An [agent loop](../howto/agent-loop.md) shows them at work.

## What holds for every tool

- **Same as REST.** Permission, reply and errors are those of the tool's route. An unknown argument
  is 422 and named; `null` counts as absent. Pointers begin with `/arguments` over REST.
- **Recalled text is data.** Every result that recalls something begins with `data_notice`:
  {notice}
  Redaction has been applied before. Nothing that a message says can change a namespace, a policy,
  a pin or a verdict: none of them is read from recalled text.
- **Batches.** Each search, expansion and list of blocks makes a batch, named by `batch_id`. A call
  of `memory_assess` or `memory_record_use` without one means the latest batch of `thread_id`, or
  without a thread the latest of the key, in that namespace. A batch that is not there is 404
  `unknown_batch`; its `detail` names the latest, the unresolved and the available batches of the
  same thread or key.
- **Default scopes.** Raw search looks through the namespace, blocks are those of the session.
- **Evidence refs.** `event:<evt>`, `graph-node:<nod>`, `graph-node:<nod>:expanded`, `raw:<msg>`,
  `block:<blk>:level:<n>`, `element:<nod>`: valid in the batch that showed them.
- **Bounds.** A result is at most `STRATAGATE_TOOL_RESULT_LIMIT_BYTES` of JSON, else 422
  `result_too_large` and nothing is stored.
- **Failures over MCP** are tool errors that hold the problem document and beside it a `remedy`: a
  sentence on what a model can do about it.

## How a model is told to use them

These are the instructions of the MCP server, and `instructions` of `GET /v1/tools`:

```text
{guide}
```
"""


def render() -> str:
    """Return the whole page."""
    head = _HEAD.replace("{notice}", _notice()).replace("{guide}", GUIDE)
    return head + "".join(_section(tool) for tool in TOOLS)


def _notice() -> str:
    first, _, second = DATA_NOTICE.partition(". ")
    return f"*{first}.\n  {second}*"


def _section(tool: Tool) -> str:
    rest = f"`{tool.route}`" if tool.route else "only a tool"
    lines = [
        f"\n## {tool.name}\n",
        f"{tool.title}. REST: {rest}. Permission: `{tool.permission.value}`.\n",
        f"> {tool.description}\n",
        "| argument | type | default | meaning |",
        "|---|---|---|---|",
        *_rows(tool.parameters),
    ]
    return "\n".join(lines) + "\n"


def _rows(schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", [])
    for name, field in schema["properties"].items():
        default = "required" if name in required else _default(field)
        about = field.get("description", "")
        yield f"| `{name}` | {_type(field)} | {default} | {about} |"


def _default(field: Mapping[str, Any]) -> str:
    value = field.get("default")
    return "" if value in (None, []) else f"`{json.dumps(value)}`"


def _type(field: Mapping[str, Any]) -> str:
    """Say a schema's type in words, its bounds and its members with it."""
    if "anyOf" in field:
        kinds = [_type(one) for one in field["anyOf"] if one.get("type") != "null"]
        return " or ".join(kinds)
    if "enum" in field:
        return " ".join(f"`{member}`" for member in field["enum"])
    kind = field.get("type", "any")
    if kind == "array":
        most = f", at most {field['maxItems']}" if "maxItems" in field else ""
        return f"list of {_type(field['items'])}{most}"
    if kind == "object":
        return "object of " + ", ".join(f"`{name}`" for name in field.get("properties", {}))
    if isinstance(kind, list):
        return " or ".join(one for one in kind if one != "null")
    if "minimum" in field and "maximum" in field:
        return f"{kind}, {field['minimum']} to {field['maximum']}"
    return f"{kind}, at least {field['minimum']}" if "minimum" in field else str(kind)


if __name__ == "__main__":
    sys.stdout.write(render())
