"""Ask: what an agent would find for a question, why it matched, and the gate behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.ask.found import found_item
from retrieval.console.ask.gate import Gate
from retrieval.console.ask.lanes import LANES, Lane, Reply, context, search, why_empty
from retrieval.console.ask.prompt import prompt_context
from retrieval.console.components.figures import age, counted
from retrieval.console.components.states import empty_state, error_state, notice
from retrieval.console.components.text import section, text
from retrieval.console.page_context import PageContext

_CONTEXT = "context"
_LONGEST_QUESTION = 2_000
Answer = Reply | ApiProblem


async def render(page: PageContext) -> None:
    """Build the form; nothing is searched before it is sent, for each search makes a batch."""
    AskPage(page).build()


class AskPage:
    """The page of one browser: a question, and what each search answered."""

    def __init__(self, page: PageContext) -> None:
        self.page = page

    def build(self) -> None:
        """Build the form and the place of the answers."""
        asks = f"Asked in the thread {self.page.thread}." if self.page.thread else ""
        note = f"{asks} Nothing is changed by searching.".strip()
        with section("A question", note=note), ui.element("div").classes("sg-ask-form"):
            self.question = ui.input(
                "Question", value=self.page.query.get("q", ""), placeholder="Who, what, when …"
            )
            self.question.props(f"outlined maxlength={_LONGEST_QUESTION}").classes("sg-grow")
            self.question.on("keydown.enter", self.ask)
            with ui.element("button").props("type=button") as self.button:
                text("Search")
            self.button.classes("sg-button sg-button-main").on("click", self.ask)
        self.answers = ui.element("div").classes("sg-stack").props("aria-live=polite")
        with self.answers:
            empty_state(
                "Ask something that memory should know",
                "Four searches run side by side: events, graph, messages and blocks. Each is a "
                "batch that can be assessed, as an agent would.",
                icon="o_search",
            )

    async def ask(self) -> None:
        """Search all lanes at once and show what they found."""
        question = (self.question.value or "").strip()
        if not question:
            return
        self.button.props("disabled")
        try:
            found = await asyncio.gather(
                *(_answer(search(self.page, lane, question)) for lane in LANES),
                _answer(context(self.page, question)),
            )
        finally:
            self.button.props(remove="disabled")
        ui.navigate.history.replace(self.page.url(q=question))
        self.answers.clear()
        with self.answers, section(f"What is found for “{question}”"):
            self._tabs(question, found)

    def _tabs(self, question: str, found: list[Answer]) -> None:
        *replies, told = found
        with ui.tabs().props("no-caps align=left dense inline-label") as tabs:
            for lane, reply in zip(LANES, replies, strict=True):
                ui.tab(lane.slug, label=_label(lane.title, reply))
            ui.tab(_CONTEXT, label="Context for a prompt")
        with ui.tab_panels(tabs, value=LANES[0].slug, animated=False).classes("sg-panels"):
            for lane, reply in zip(LANES, replies, strict=True):
                with ui.tab_panel(lane.slug), ui.element("div").classes("sg-stack"):
                    self._lane(lane, reply, question)
            with ui.tab_panel(_CONTEXT), ui.element("div").classes("sg-stack"):
                if isinstance(told, ApiProblem):
                    error_state(told)
                else:
                    prompt_context(told)

    def _lane(self, lane: Lane, reply: Answer, question: str) -> None:
        if isinstance(reply, ApiProblem):
            error_state(reply)
            return
        _notes(lane, reply)
        gate = Gate(self.page, str(reply["batch_id"]), question)
        if not reply["items"]:
            empty_state("Nothing was found", why_empty(reply), icon="o_search_off")
        with ui.element("ol").classes("sg-found-list"):
            for item in reply["items"]:
                found_item(self.page, lane.slug, item, gate.cite)
        gate.build()


async def _answer(asked: Awaitable[Reply]) -> Answer:
    """Return what a search answered, or what was refused: one lane's trouble is its own."""
    try:
        return await asked
    except ApiProblem as problem:
        return problem


def _label(title: str, reply: Answer) -> str:
    return title if isinstance(reply, ApiProblem) else f"{title} ({len(reply['items'])})"


def _notes(lane: Lane, reply: Reply) -> None:
    with ui.element("p").classes("sg-hint"):
        text(f"{lane.tool}, batch ")
        text(str(reply["batch_id"]), classes="sg-mono")
    pending = reply["pending"]
    if pending["blocks"]:
        blocks = counted(pending["blocks"], "block")
        notice(f"{blocks} still being processed, the oldest for {age(pending['oldest_age_s'])}.")
    if reply.get("next_step"):
        notice(str(reply["next_step"]))
    for window in reply.get("query_windows", ()):
        notice(f"“{window['text']}” is read as {window['start']} until {window['until']}.")
    for degraded in reply.get("degraded_lanes", ()):
        notice(f"A part of the search was left out: {degraded}", "busy")
