"""Candidates of an import, one card each: what it says, what it resembles, and what is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from retrieval.console.components.figures import counted
from retrieval.console.components.moments import moment
from retrieval.console.components.quotes import quote
from retrieval.console.components.states import status_badge
from retrieval.console.components.text import text
from retrieval.console.importing.decisions import ACTIONS, NEED_TARGET, Candidate, Decisions
from retrieval.console.page_context import PageContext

AS_PROPOSED = ""
_LONGEST_TITLE, _LONGEST_SUMMARY = 160, 2_000


def candidate_card(
    page: PageContext,
    candidate: Candidate,
    decisions: Decisions | None,
    changed: Callable[[], None],
) -> None:
    """Show a candidate; with `decisions` a person can decide, and `changed` is told of it."""
    with ui.element("li").classes("sg-candidate"):
        if candidate["is_erased"]:
            text("An erasure took its words.", "p", classes="sg-muted")
            return
        with ui.element("div").classes("sg-stack sg-tight sg-candidate-said"):
            _said(candidate)
        with ui.element("div").classes("sg-stack sg-candidate-done"):
            _proposal(page, candidate)
            if decisions is not None and candidate["decision"] is not None:
                _choice(candidate, decisions, changed)


def _said(candidate: Candidate) -> None:
    text(candidate["title"] or "", "p", classes="sg-found-title")
    if candidate["summary"] and candidate["summary"].rstrip(".") != candidate["title"]:
        text(candidate["summary"], "p")
    time = candidate["time"] or {}
    with ui.element("p").classes("sg-hint"):
        kind = [candidate["memory_kind"], candidate["category"], candidate["criticality"]]
        text(" · ".join(part for part in kind if part))
        if time.get("happened_start"):
            text(" · happened ")
            moment(time["happened_start"], with_time=False)
        elif time.get("original_text"):
            text(f" · “{time['original_text']}”")
        if time.get("mentioned_at"):
            text(" · said ")
            moment(time["mentioned_at"])
    for said in candidate["quotes"]:
        quote(said)
    if candidate["provenance"]:
        text(candidate["provenance"], "p", classes="sg-mono sg-muted")


def _proposal(page: PageContext, candidate: Candidate) -> None:
    told = candidate["answer"] or candidate["decision"]
    if told is None:
        status_badge("being decided", "busy")
        return
    with ui.element("div").classes("sg-row"):
        status_badge(ACTIONS[told["action"]].lower(), "info", icon="o_arrow_forward")
        if candidate["answer"] is None:
            text(f"sure to {told['confidence']:.0%}", classes="sg-hint")
            if candidate["requires_confirmation"]:
                status_badge("waits for you", "busy")
    if told["reason"]:
        text(told["reason"], "p", classes="sg-hint")
    if candidate["event_id"]:
        ui.link("The memory it became", page.url_of("timeline", event=candidate["event_id"]))
    about = set(told["existing_event_ids"])
    for match in candidate["matches"]:
        if match["event_id"] in about:
            _match(page, match, "About ")
    others = [match for match in candidate["matches"] if match["event_id"] not in about]
    if others:
        with ui.element("details").classes("sg-ground"):
            text(f"{counted(len(others), 'memory', 'memories')} like it", "summary")
            for match in others:
                _match(page, match, "")


def _match(page: PageContext, match: Mapping[str, Any], lead: str) -> None:
    with ui.element("p").classes("sg-hint"):
        text(lead)
        title = match["title"] or "a memory that was set aside"
        ui.link(title, page.url_of("timeline", event=match["event_id"]))
        text(f" ({match['score']:.2f})")


def _choice(candidate: Candidate, decisions: Decisions, changed: Callable[[], None]) -> None:
    made = decisions.of(candidate)
    offered = {name: said for name, said in ACTIONS.items() if name not in NEED_TARGET}
    if candidate["matches"]:
        offered = dict(ACTIONS)
    first = "Decide …" if candidate["requires_confirmation"] else "As proposed"
    chooser = ui.select(
        {AS_PROPOSED: first, **offered},
        value=made.action if made else AS_PROPOSED,
        label="Decision",
    ).props("dense outlined options-dense")
    chooser.props["aria-label"] = f"Decision about candidate {candidate['index'] + 1}"
    details = ui.element("div").classes("sg-stack")

    def decide(event: ValueChangeEventArguments[Any]) -> None:
        decisions.decide(candidate, event.value or None)
        _details(details, candidate, decisions)
        changed()

    chooser.on_value_change(decide)
    _details(details, candidate, decisions)


def _details(place: ui.element, candidate: Candidate, decisions: Decisions) -> None:
    """Show what else a decision needs: the memories it is about, the merged text."""
    place.clear()
    made = decisions.of(candidate)
    if made is None or made.action not in NEED_TARGET:
        return
    options = {match["event_id"]: match["title"] or "set aside" for match in candidate["matches"]}
    with place:
        targets = ui.select(options, value=list(made.targets), label="About", multiple=True)
        targets.props("dense outlined options-dense use-chips")
        targets.on_value_change(lambda event: setattr(made, "targets", list(event.value or ())))
        if made.action == "MERGE":
            title = ui.input("Merged title", value=made.title)
            title.props(f"dense outlined maxlength={_LONGEST_TITLE}").bind_value_to(made, "title")
            summary = ui.textarea("Merged summary", value=made.summary)
            summary.props(f"dense outlined autogrow maxlength={_LONGEST_SUMMARY}")
            summary.bind_value_to(made, "summary")
