"""One call of a tool, from whichever edge it comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call. `thread_id` is the conversation that asks; `receipt_id` a header's, if any."""

    name: str
    namespace: str
    thread_id: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    receipt_id: str | None = None


def asked_for(call: ToolCall) -> dict[str, str]:
    """Return the namespace and the ids that a call names, for logs and the audit of a 404."""
    ids = {
        name: value
        for name, value in call.arguments.items()
        if name.endswith("_id") and isinstance(value, str)
    }
    return {"ns": call.namespace, **ids}
