"""One use as a chain: the answer, the verdict it rested on, the evidence, what was once said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from retrieval.console.components.figures import counted
from retrieval.console.components.moments import moment
from retrieval.console.components.quotes import source_message
from retrieval.console.components.states import Tone, status_badge
from retrieval.console.components.text import heading, text
from retrieval.console.page_context import PageContext

Use = Mapping[str, Any]
_TONE: Mapping[str, Tone] = {"sufficient": "good", "partial": "busy", "wrong": "bad"}
_OPEN_SOURCES = 2
_LONGEST_QUESTION = 140


def use_chain(page: PageContext, use: Use) -> None:
    """Show one use from the answer's turn down to the source messages."""
    with ui.element("article").classes("sg-card sg-use") as card:
        shown = heading(_title(use), classes="sg-use-title")
        card.props["aria-labelledby"] = shown.html_id
        with ui.element("ol").classes("sg-links"):
            with _link("Answer"):
                _answer(page, use)
            with _link("Verdict"):
                _verdict(use["assessment"])
            with _link("Evidence"):
                _evidence(page, use)
            with _link("Source"):
                _sources(use)


@contextmanager
def _link(name: str) -> Iterator[None]:
    with ui.element("li").classes("sg-link"):
        text(name, "p", classes="sg-link-name")
        yield


def _title(use: Use) -> str:
    asked = str(use["assessment"]["question"] or use["query"] or "An answer")
    short = len(asked) <= _LONGEST_QUESTION
    return asked if short else asked[: _LONGEST_QUESTION - 1] + "…"


def _answer(page: PageContext, use: Use) -> None:
    answer = use["answer"]
    if answer is None:
        text("The use named no answer.", "p", classes="sg-muted")
    elif answer["turn_id"]:
        address = page.url_of("short-term", thread=answer["thread_id"])
        ui.link(f"Turn {answer['turn']} of {answer['thread_id']}", address)
        moment(answer["occurred_at"])
    else:
        where = answer["thread_id"] or "a thread that was not named"
        turn = "is not posted yet" if answer["turn_receipt_id"] else "was not named"
        text(f"In {where}; its turn {turn}.", "p")
    with ui.element("p").classes("sg-hint"):
        text("Recorded ")
        moment(use["recorded_at"])
    text(use["use_receipt_id"], "p", classes="sg-mono sg-muted")


def _verdict(told: Mapping[str, Any]) -> None:
    verdict = told["verdict"]
    if verdict is None:
        text("None: nothing was used, which needs no verdict.", "p", classes="sg-muted")
        return
    status_badge(str(verdict), _TONE.get(str(verdict), "calm"))
    if told["fit"]:
        text(told["fit"], "p")
    if told["missing"]:
        text(f"Missing: {told['missing']}", "p", classes="sg-muted")


def _evidence(page: PageContext, use: Use) -> None:
    for event in use["events"]:
        with ui.element("div").classes("sg-stack sg-tight"):
            address = page.url_of("timeline", event=event["event_id"])
            ui.link(event["title"] or "A memory that was set aside", address)
            with ui.element("div").classes("sg-row"):
                _status(event["status"])
                if event["is_reinforced"]:
                    status_badge("strengthened", "info", icon="o_trending_up")
    named = {f"event:{event['event_id']}" for event in use["events"]}
    for ref in use["evidence_refs"]:
        if ref not in named:
            text(ref, "p", classes="sg-mono")
    if not use["evidence_refs"]:
        text("The answer rested on no memory.", "p", classes="sg-muted")
    text(f"{use['tool'] or 'search'}, {use['batch_id']}", "p", classes="sg-mono sg-muted")


def _status(status: str | None) -> None:
    if status is None:
        status_badge("gone since", "bad")
    else:
        status_badge(status, "good" if status == "active" else "calm")


def _sources(use: Use) -> None:
    messages = use["source_messages"]
    for message in messages[:_OPEN_SOURCES]:
        _message(message)
    rest = messages[_OPEN_SOURCES:]
    if rest:
        with ui.element("details"):
            text(f"{counted(len(rest), 'more message')}", "summary")
            for message in rest:
                _message(message)
    if not messages:
        text("No source message is left, or none was used.", "p", classes="sg-muted")


def _message(message: Mapping[str, Any]) -> None:
    source_message(
        message["content"],
        quotes=[],
        who=message["role"],
        when=message["occurred_at"],
        name=message["name"] or "",
    )
