"""The gate for one batch: assess what was found, heed what code notices, record what was used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.states import error_state, notice, notify_problem, status_badge
from retrieval.console.components.text import heading, text
from retrieval.console.page_context import PageContext

VERDICTS = {
    "sufficient": "Sufficient – the cited items answer it by themselves",
    "partial": "Partial – they help, and something is missing",
    "wrong": "Wrong – they do not speak of it",
}
STRATEGIES = {
    "answer": "Answer from it",
    "search_events": "Search events",
    "expand_event": "Expand an event",
    "search_graph": "Search the graph",
    "expand_graph_node": "Expand a node",
    "search_raw_memory": "Search messages",
    "expand_block": "Expand a block",
}
_LONGEST = 160


class Gate:
    """One batch's assessment form, what it answered, and the use that may follow."""

    def __init__(self, page: PageContext, batch_id: str, question: str) -> None:
        self._page = page
        self._batch_id = batch_id
        self._question = question
        self._cited: list[str] = []
        self._accepted: list[str] = []

    def cite(self, ref: str, is_cited: bool) -> None:
        """Note whether the assessment names an item."""
        if is_cited and ref not in self._cited:
            self._cited.append(ref)
        elif not is_cited and ref in self._cited:
            self._cited.remove(ref)
        self._count.set_text(self._counted())

    def build(self) -> None:
        """Build the form below the items."""
        with ui.element("div").classes("sg-gate sg-stack").props("role=group") as form:
            form.props["aria-label"] = "Assessment of this batch"
            heading("Assess this batch", level=3)
            self._count = text(self._counted(), "p", classes="sg-hint").props("role=status")
            self._verdict = ui.radio(VERDICTS, value="partial").props("dense")
            self._verdict.classes("sg-verdicts").on_value_change(self._follow_verdict)
            with ui.element("div").classes("sg-fields"):
                self._fit = _field("How the items fit the question")
                self._missing = _field("What is missing")
                self._next = ui.select(STRATEGIES, value="search_raw_memory", label="What next")
                self._next.props("dense outlined options-dense")
            with ui.element("div").classes("sg-row"):
                _button("Assess", self._assess, main=True)
            self._told = ui.element("div").classes("sg-stack").props("aria-live=polite")

    def _counted(self) -> str:
        if not self._cited:
            return "Tick the items that carry the answer; a sufficient verdict needs one."
        return f"{len(self._cited)} cited."

    def _follow_verdict(self) -> None:
        """An answer follows from what is sufficient, and from nothing else."""
        if self._verdict.value == "sufficient":
            self._next.value = "answer"
        elif self._next.value == "answer":
            self._next.value = "search_raw_memory"

    async def _assess(self) -> None:
        body = {
            "verdict": self._verdict.value,
            "evidence_refs": list(self._cited),
            "fit": self._fit.value or "",
            "missing": self._missing.value or "",
            "next_strategy": self._next.value,
            "question": self._question,
        }
        try:
            said = await self._page.api.post(f"/v1/batches/{self._batch_id}/assessment", body)
        except ApiProblem as problem:
            self._show_problem(problem)
            return
        self._accepted = list(said["evidence_refs"])
        self._told.clear()
        with self._told:
            self._show(said)

    def _show(self, said: Mapping[str, Any]) -> None:
        is_sufficient = said["verdict"] == "sufficient"
        with ui.element("div").classes("sg-row"):
            text("It counts as", classes="sg-muted")
            status_badge(str(said["verdict"]), "good" if is_sufficient else "busy")
            text(f"with {len(self._accepted)} accepted, then", classes="sg-muted")
            text(STRATEGIES.get(said["next_strategy"], str(said["next_strategy"])))
        if said["verdict"] != self._verdict.value:
            notice("The gate lowered the verdict: sufficient needs an accepted ref to answer from.")
        for advisory in said["advisories"]:
            about = ", ".join(advisory["terms"] or ())
            told = f"{advisory['message']}" + (f" ({about})" if about else "")
            notice(told, "busy").classes("sg-advisory")
        if not said["advisories"]:
            text("Code notices nothing against it.", "p", classes="sg-hint")
        for rejected in said["rejected_evidence_refs"]:
            text(f"{rejected['ref']}: {rejected['detail']}", "p", classes="sg-mono")
        self._use_form(is_sufficient)

    def _use_form(self, is_sufficient: bool) -> None:
        with ui.element("div").classes("sg-row"):
            if is_sufficient:
                _button("Record that the answer used these", self._use_accepted, main=True)
            _button("Record that nothing was used", self._use_nothing)
        hint = "This is the one step that strengthens memories, and it closes the batch."
        text(hint, "p", classes="sg-hint")

    async def _use_accepted(self) -> None:
        await self._use(self._accepted)

    async def _use_nothing(self) -> None:
        await self._use([])

    async def _use(self, refs: list[str]) -> None:
        # The batch names the receipt: a second press is the same use, and gets the same answer.
        receipt_id = f"console:{self._batch_id}"
        body = {
            "evidence_refs": refs,
            "receipt_id": receipt_id,
            "answer": {"thread_id": self._page.thread},
        }
        try:
            used = await self._page.api.post(f"/v1/batches/{self._batch_id}/use", body)
        except ApiProblem as problem:
            notify_problem(problem)
            return
        self._told.clear()
        with self._told:
            receipt(self._page, used)

    def _show_problem(self, problem: ApiProblem) -> None:
        self._told.clear()
        with self._told:
            error_state(problem)


def receipt(page: PageContext, used: Mapping[str, Any]) -> None:
    """Show a receipt: what was used, and how much each memory grew."""
    with ui.element("div").classes("sg-notice sg-notice-good sg-receipt"):
        text("The use is recorded", "p", classes="sg-notice-title")
        text(f"Receipt {used['use_receipt_id']}", "p", classes="sg-mono")
        if not used["events"]:
            text("No memory was strengthened: none was used, or what was used is a source.", "p")
        for event in used["events"]:
            with ui.element("p"):
                ui.link(event["event_id"], page.url_of("timeline", event=event["event_id"]))
                text(
                    f" adopted {event['n']} times, weight {event['weight_before']:.2f} → "
                    f"{event['weight']:.2f}"
                )
        ui.link("See it in the usage audit", page.url_of("usage-audit"))


def _field(label: str) -> ui.input:
    return ui.input(label).props(f"dense outlined maxlength={_LONGEST}")


def _button(label: str, pressed: Any, *, main: bool = False) -> None:
    classes = "sg-button sg-button-main" if main else "sg-button"
    with ui.element("button").props("type=button").classes(classes) as button:
        text(label)
    button.on("click", pressed)
