"""Levels 3 to 5 of a block, rendered from its source messages by rule, without a model.

L5 is the raw transcript, L4 reads near verbatim, L3 is condensed: fillers and repeated pastes
gone, tool traces in words. A lower level never costs more than the one above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.domain.budget import estimate_tokens
from shared.domain.fillers import remove_fillers
from shared.domain.json_text import compact_json
from shared.domain.spacing import WHITE_SPACE, collapse, trim
from shared.domain.tool_json import recognised_tool_json, tool_call_line
from shared.domain.turns import Message, Role

REPEATED_PASTE = "[repeated paste omitted; original remains in L5]"
"""Stands where the condensed level leaves out a paste that was shown before."""

_PASTE_LENGTH = 80
_GAP = "\n\n"
_LABELS = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool"}
_FENCED = re.compile(r"(```.*?```)", re.DOTALL)
_BLANK_LINE = re.compile(rf"\n{WHITE_SPACE}*\n")
_CODE_LINE = re.compile(
    rf"^{WHITE_SPACE}*(?:const|let|var|function|class|import|export|def|SELECT|INSERT|UPDATE)\b",
    re.MULTILINE,
)
_CODE_MARK = re.compile(r"=>|[{};]")


@dataclass(frozen=True, slots=True)
class Layers:
    """The three rendered levels of a block.

    `l3` and `l4` are what readers get, after the guards; `unguarded_*` are the texts before.
    `tokens` holds the estimate of each of the five texts under its field name.
    """

    l3: str
    l4: str
    l5: str
    unguarded_l3: str
    unguarded_l4: str
    l4_fell_back_to_l5: bool
    l3_fell_back_to_l4: bool
    tokens: Mapping[str, int] = field(default_factory=dict)

    def by_level(self) -> dict[int, tuple[str, int]]:
        """Return (text, tokens) of levels 3 to 5, as blocks keep them."""
        return {
            5: (self.l5, self.tokens["l5"]),
            4: (self.l4, self.tokens["l4"]),
            3: (self.l3, self.tokens["l3"]),
        }


def render_layers(messages: Sequence[Message]) -> Layers:
    """Render L3, L4 and L5 of a block's messages, in order.

    A level whose estimate exceeds that of the level above is replaced by that level's text, so
    tokens(L3) <= tokens(L4) <= tokens(L5) always holds.
    """
    raw, readable, condensed = render_l5(messages), _readable(messages), _condensed(messages)
    cost = {text: estimate_tokens(text) for text in (raw, readable, condensed)}
    l4_falls_back = cost[readable] > cost[raw]
    l4 = raw if l4_falls_back else readable
    l3_falls_back = cost[condensed] > cost[l4]
    l3 = l4 if l3_falls_back else condensed
    texts = {"l3": l3, "l4": l4, "l5": raw, "unguarded_l4": readable, "unguarded_l3": condensed}
    return Layers(
        **texts,
        l4_fell_back_to_l5=l4_falls_back,
        l3_fell_back_to_l4=l3_falls_back,
        tokens={name: cost[text] for name, text in texts.items()},
    )


def render_l5(messages: Sequence[Message]) -> str:
    """Render the raw transcript: every message untrimmed, system ones too, tool calls as JSON."""
    parts: list[str] = []
    for message in messages:
        parts.append(f"{message.role.value}: {message.content}")
        parts += [f"Tool call (raw): {compact_json(call)}" for call in message.tool_calls]
    return _GAP.join(parts)


def _readable(messages: Sequence[Message]) -> str:
    parts: list[str] = []
    for message in messages:
        label = _LABELS.get(message.role)
        if label is None:
            continue
        text = trim(message.content)
        if message.role is Role.TOOL:
            text = recognised_tool_json(text, is_tool=True) or text
        parts += [f"{label}: {text}"] if text else []
        parts += [tool_call_line(call) for call in message.tool_calls]
    return _GAP.join(parts)


def _condensed(messages: Sequence[Message]) -> str:
    shown: set[str] = set()

    def once(paste: str) -> str:
        key = _paste_key(paste)
        if key in shown:
            return REPEATED_PASTE
        shown.add(key)
        return paste

    rendered: list[str] = []
    for message in messages:
        label = _LABELS.get(message.role)
        if label is None:
            continue
        parts = _content_parts(message, once)
        parts += [tool_call_line(call) for call in message.tool_calls]
        if parts:
            rendered.append(f"{label}: {_GAP.join(parts)}")
    return _GAP.join(rendered)


def _content_parts(message: Message, once: Callable[[str], str]) -> list[str]:
    text = trim(message.content)
    tool_line = recognised_tool_json(text, is_tool=message.role is Role.TOOL)
    if tool_line is not None:
        return [tool_line]
    parts: list[str] = []
    for index, piece in enumerate(_FENCED.split(text)):
        if index % 2:
            parts.append(once(trim(piece)))
        else:
            parts += _prose_parts(piece, once)
    return parts


def _prose_parts(text: str, once: Callable[[str], str]) -> list[str]:
    kept = [paragraph for part in _BLANK_LINE.split(text) if (paragraph := remove_fillers(part))]
    return [once(paragraph) if _is_paste(paragraph) else paragraph for paragraph in kept]


def _is_paste(paragraph: str) -> bool:
    return _looks_like_code(paragraph) or len(_paste_key(paragraph)) >= _PASTE_LENGTH


def _looks_like_code(paragraph: str) -> bool:
    if "\n" not in paragraph:
        return False
    return bool(_CODE_LINE.search(paragraph) or _CODE_MARK.search(paragraph))


def _paste_key(paragraph: str) -> str:
    return trim(collapse(paragraph)).lower()
