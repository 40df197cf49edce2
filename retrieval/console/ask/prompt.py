"""The prompt-ready context an agent would get: blocks, open tail, and what else bears on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from retrieval.console.components.figures import counted, figure, number
from retrieval.console.components.moments import moment
from retrieval.console.components.states import status_badge
from retrieval.console.components.text import heading, text

_ASCII = re.compile(r"[\x00-\x7f]+")
_ASCII_A_TOKEN = 4


def estimated_tokens(said: str) -> int:
    """Estimate a text's tokens as the API does: four ASCII characters, or one other, a token."""
    runs = [len(run) for run in _ASCII.findall(said)]
    return sum(-(-run // _ASCII_A_TOKEN) for run in runs) + len(said) - sum(runs)


def prompt_context(told: Mapping[str, Any]) -> None:
    """Show a context reply with its token counts, block by block, and whole as one text."""
    whole = as_text(told)
    with ui.element("div").classes("sg-figures"):
        figure("The whole context", number(estimated_tokens(whole)), note="tokens, estimated")
        of_blocks = sum(int(block["tokens"]) for block in told["blocks"])
        figure("Blocks", number(of_blocks), note=counted(len(told["blocks"]), "block"))
        tail = "\n".join(_said(message) for message in told["open_tail"])
        figure(
            "Open tail",
            number(estimated_tokens(tail)),
            note=counted(len(told["open_tail"]), "message"),
        )
        activated = told["activated"]
        found = len(activated["events"]) + len(activated["nodes"])
        figure(
            "Other conversations",
            number(activated["tokens"]),
            note=counted(found, "memory", "memories"),
        )
    _blocks(told["blocks"])
    _activated(activated)
    with ui.element("details").classes("sg-ground"):
        text("All of it as one text, as it goes into a prompt", "summary")
        text(whole, "pre", classes="sg-prompt").props("tabindex=0")


def as_text(told: Mapping[str, Any]) -> str:
    """Write a context as a host inserts it: each block under its header, tail, background."""
    parts = [f"{block['header']}\n\n{block['content']}" for block in told["blocks"]]
    parts += ["\n\n".join(_said(message) for message in told["open_tail"])]
    parts += [told["activated"]["text"]]
    return "\n\n".join(part for part in parts if part.strip())


def _blocks(blocks: Sequence[Mapping[str, Any]]) -> None:
    if not blocks:
        text("The conversation has no sealed block yet; all of it is in the open tail.", "p")
    with ui.element("ol").classes("sg-stack"):
        for block in blocks:
            level = int(block["level"])
            with ui.element("li"), ui.element("details").classes("sg-ground"):
                with ui.element("summary"):
                    text(f"L{level}", classes=f"sg-level sg-level-{level}")
                    first, last = block["turn_range"]
                    text(f" Turns {first}–{last}, {block['tokens']} tokens ")
                    if block["status"] != "ready":
                        status_badge(str(block["status"]), "busy")
                text(block["content"], "p", classes="sg-pre")


def _activated(activated: Mapping[str, Any]) -> None:
    heading("From other conversations", level=3)
    if not activated["events"] and not activated["nodes"]:
        text("Nothing that other conversations know bears on it.", "p", classes="sg-muted")
        return
    with ui.element("ul").classes("sg-stack sg-tight"):
        for event in activated["events"]:
            with ui.element("li").classes("sg-row"):
                text(event["title"], classes="sg-grow")
                moment(event["source_time"])
                text(f"weight {event['weight']:.2f}", classes="sg-hint")
        for node in activated["nodes"]:
            with ui.element("li").classes("sg-row"):
                text(node["name"], classes="sg-grow")
                text(node["type"], classes=f"sg-node-type sg-node-{node['type']}")


def _said(message: Mapping[str, Any]) -> str:
    return f"{str(message['role']).capitalize()}: {message['content']}"
