"""One block at every level: a slider from the title to the raw transcript, and what each costs.

Moving the slider only looks. Expanding anchors the block anew, and says so before it is done.
"""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.components.acting import button, told
from retrieval.console.components.curves import Step, decay_drawing
from retrieval.console.components.figures import counted, number
from retrieval.console.components.levels import level_chip, level_slider
from retrieval.console.components.moments import moment, written
from retrieval.console.components.states import notice, status_badge
from retrieval.console.components.text import heading, section, text
from retrieval.console.page_context import PageContext

_DEEPEST = 5


def show_block(page: PageContext, block: dict[str, Any]) -> None:
    """Show a block's levels, its decay, its anchor and its expansion."""
    with ui.element("div").classes("sg-stack sg-block"):
        _levels(block)
        if block["status"] == "ready":
            with ui.element("div").classes("sg-columns"):
                _decay(block)
                _expansion(page, block)
        else:
            _unready(block)


def _levels(block: dict[str, Any]) -> None:
    first, last = block["turn_range"]
    with section(block["title"] or "Not summarised yet"):
        with ui.element("div").classes("sg-row sg-muted"):
            level_chip(block["level"], block["label"])
            text(f"today at {block['label']}")
            text(f"turns {first}–{last}")
            moment(block["started_at"])
            for tag in block["tags"]:
                text(tag, classes="sg-tag")
        views = {view["level"]: view for view in block["levels"]}

        def show(level: int) -> None:
            view = views[level]
            label.set_text(view["label"])
            share = f"{100 * view['share']:.0f} % of L5"
            cost.set_text(f"{number(view['tokens'])} tokens, {share}")
            content.set_text(view["content"])

        level_slider(views, block["level"], show)
        with ui.element("div").classes("sg-row sg-between").props("aria-live=polite"):
            label = text("", classes="sg-strong")
            cost = text("", classes="sg-muted")
        content = text("", "div", classes="sg-level-text").props(
            'tabindex=0 role=region aria-label="The block at this level"'
        )
        show(block["level"])
        _bars(block)


def _bars(block: dict[str, Any]) -> None:
    """Show what every level costs, side by side."""
    with ui.element("ul").classes("sg-bars").props('aria-label="Tokens of each level"'):
        for view in block["levels"]:
            with ui.element("li"):
                level_chip(view["level"], view["label"])
                with ui.element("span").classes("sg-bar").props("aria-hidden=true"):
                    width = min(100.0, 100 * view["share"])
                    ui.element("span").style(f"width:{width:.1f}%").classes(
                        f"sg-level-{view['level']}"
                    )
                text(f"{number(view['tokens'])} · {100 * view['share']:.0f} %")


def _decay(block: dict[str, Any]) -> None:
    since, anchor = block["blocks_since_anchor"], block["anchor"]
    with section("Decay", note="How it fades as newer blocks of its thread become ready."):
        steps = [Step(one["blocks"], one["weight"], one["level"]) for one in block["curve"]]
        words = (
            f"Anchored at L{anchor['level']}; {counted(since, 'ready block')} since give weight "
            f"{block['weight']:.2f} and level L{block['level']}."
        )
        decay_drawing(steps, here=since, words=words)
        with ui.element("dl").classes("sg-facts"):
            _fact("Anchor", f"L{anchor['level']}, at ready block {anchor['position']}")
            _fact("Since then", counted(since, "ready block"))
            _fact("Weight now", f"{block['weight']:.2f}")
            _fact("Age", counted(block["age"], "newer block"))
            lifted = "never"
            if block["lifted_at"]:
                lifted = f"by {block['lifted_by']}, {written(block['lifted_at'])}"
            _fact("Last lifted", lifted)


def _expansion(page: PageContext, block: dict[str, Any]) -> None:
    with section("Expand"):
        deeper = range(block["level"] + 1, _DEEPEST + 1)
        if not deeper:
            text("It stands at its deepest level already.", "p", classes="sg-muted")
            return
        text(
            "Gives the block back more detail for everybody who reads this thread. It is recorded "
            "as an expansion by a person: the block is anchored at the new level and fades from "
            "there. To look without that, move the slider.",
            "p",
            classes="sg-muted",
        )
        with ui.element("div").classes("sg-row"):
            for level in deeper:

                async def expand(level: int = level) -> None:
                    body = {"level": level, "by": "user", "thread_id": block["thread_id"]}
                    path = page.read(f"blocks/{block['block_id']}/expand")
                    if await told(lambda: page.api.post(path, body)):
                        page.reload(saying=f"Expanded to L{level}, and recorded.")

                button(f"Expand to L{level}", expand)


def _unready(block: dict[str, Any]) -> None:
    with section("Not ready"):
        with ui.element("div").classes("sg-row"):
            status_badge(block["status"], "bad" if block["status"] == "failed" else "busy")
        said = "Its messages stand in context as they were said, and nothing of it is lost."
        if block["status"] == "failed":
            said += " The overview shows why it failed, and can retry it."
        notice(said, "info")


def _fact(name: str, value: str) -> None:
    text(name, "dt")
    text(value, "dd")


def show_tail(blocks: dict[str, Any]) -> None:
    """Show the messages that are not sealed yet, as they were said."""
    turns, size = blocks["open_tail_turns"], blocks["block_turn_size"]
    with section(
        "Open tail", note=f"{number(turns)} of {counted(size, 'turn')} until it is sealed."
    ):
        if not blocks["open_tail"]:
            text("Everything said in this thread is sealed into blocks.", "p", classes="sg-muted")
        shown = len({message["turn_id"] for message in blocks["open_tail"]})
        if shown < turns:
            text(f"The newest {counted(shown, 'turn')} of them.", "p", classes="sg-hint")
        for message in blocks["open_tail"]:
            with ui.element("article").classes(f"sg-said sg-said-{message['role']}"):
                with ui.element("div").classes("sg-row sg-muted"):
                    heading(message["name"] or message["role"].capitalize(), level=3)
                    moment(message["occurred_at"])
                text(message["content"], "p", classes="sg-pre")
