"""One import from its preview to its undo; while candidates are being decided it looks again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.figures import counted
from retrieval.console.components.moments import moment
from retrieval.console.components.states import (
    Tone,
    error_state,
    notice,
    notify_done,
    notify_problem,
    status_badge,
)
from retrieval.console.components.text import section, text
from retrieval.console.importing.beginning import begun_words
from retrieval.console.importing.candidates import candidate_card
from retrieval.console.importing.decisions import Candidate, Decisions, summed_up
from retrieval.console.page_context import PageContext

_LOOK_AGAIN_S = 1.5
_SHOWN = 20
_BUSY = frozenset({"extracting", "processing"})
_OPEN = frozenset({"ready", "awaiting_confirmation"})
_WORDS: dict[str, tuple[str, Tone]] = {
    "extracting": ("a model reads the text", "busy"),
    "processing": ("candidates are being decided", "busy"),
    "awaiting_confirmation": ("waits for your decisions", "busy"),
    "ready": ("ready to be confirmed", "good"),
    "failed": ("stopped by a job that failed", "bad"),
    "committed": ("in memory", "good"),
    "undone": ("taken back", "calm"),
}


class ImportProgress:
    """The page of one import in one browser."""

    def __init__(self, page: PageContext, import_id: str) -> None:
        self.page = page
        self.path = f"/v1/imports/{import_id}"
        self.decisions = Decisions()
        self.view: dict[str, Any] = {}
        self.first = 0

    async def build(self) -> None:
        """Fetch the import and build the page; an ApiProblem is the page's to tell."""
        self.view = await self.page.api.get(self.path)
        self.place = ui.element("div").classes("sg-stack sg-import")
        self.timer = ui.timer(_LOOK_AGAIN_S, self._look_again, active=self.view["status"] in _BUSY)
        self._show()

    async def _look_again(self) -> None:
        try:
            fresh = await self.page.api.get(self.path)
        except ApiProblem as problem:
            self.timer.deactivate()
            notify_problem(problem)
            return
        changed = fresh != self.view
        self.view = fresh
        self.timer.active = fresh["status"] in _BUSY
        if changed:
            self._show()

    def _show(self) -> None:
        self.place.clear()
        with self.place:
            with section("This import"):
                self._standing()
                self._steps()
            with section("What it brings", note=self._order_note()):
                self.rows = ui.element("div").classes("sg-stack")
                self._fill()

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The candidates, those that wait for a person first."""
        found: list[Candidate] = self.view["candidates"]
        return sorted(found, key=lambda one: (not one["requires_confirmation"], one["index"]))

    def _order_note(self) -> str:
        waiting = any(one["requires_confirmation"] for one in self.view["candidates"])
        return "What waits for you stands first." if waiting and self._is_open else ""

    @property
    def _is_open(self) -> bool:
        return self.view["status"] in _OPEN

    def _standing(self) -> None:
        progress = self.view["progress"]
        said, tone = _WORDS[self.view["status"]]
        with ui.element("div").classes("sg-row"):
            status_badge(said, tone)
            text(f"{progress['decided']} of {counted(progress['total'], 'candidate')} decided")
            text(f"from {begun_words(self.view)}, begun", classes="sg-muted")
            moment(self.view["created_at"])
        text(self.view["import_id"], "p", classes="sg-mono sg-muted")
        if self.view["is_recovered"]:
            notice("A model read these out of a text: each waits for a person.", "busy")
        for skipped in self.view["skipped"]:
            said = str(skipped["code"]).replace("_", " ")
            text(f"Item {skipped['index'] + 1} was left out: {said}.", "p", classes="sg-hint")

    def _steps(self) -> None:
        status = self.view["status"]
        self.told = ui.element("div").classes("sg-stack").props("aria-live=polite")
        if self._is_open:
            self._confirm_form()
        elif status == "committed":
            self._committed()
        elif status == "undone":
            notice("Memory is as it was before. The import and its source stay on this page.")
        elif status == "failed":
            self._failed()
        with ui.element("div").classes("sg-row"):
            ui.link("Begin another import", self.page.url(**{"import": None}))

    def _confirm_form(self) -> None:
        self._summary = text(self._summed_up(), "p").props("role=status")
        if any(one["requires_confirmation"] for one in self.view["candidates"]):
            ui.checkbox("Leave out what I have not decided").props("dense").bind_value(
                self.decisions, "ignore_unanswered"
            )
        _button("Confirm the import", self._confirm, main=True)

    def _summed_up(self) -> str:
        actions = self.decisions.actions(self.view["candidates"])
        waiting = self.decisions.unanswered(self.view["candidates"])
        wait = f" {counted(waiting, 'candidate')} without your decision." if waiting else ""
        return f"Once confirmed: {summed_up(actions) or 'nothing changes'}.{wait}"

    def _committed(self) -> None:
        done = summed_up(self.view["progress"]["actions"])
        notice(f"Written into memory: {done or 'nothing'}.", "good")
        block = self.view["source_block"]
        if block:
            with ui.element("details").classes("sg-ground"):
                text("The source that is kept for good", "summary")
                text(block["text"], "pre", classes="sg-prompt").props("tabindex=0")
        _button("Take the import back", self._ask_undo)

    def _failed(self) -> None:
        for job in self.view["jobs"]:
            with ui.element("div").classes("sg-row"):
                text(job["job_id"], classes="sg-mono")
                status_badge(job["state"], "bad" if job["state"] == "dead" else "busy")
                text(job["reason"] or "", classes="sg-grow")
                if job["state"] in ("dead", "cancelled", "degraded"):
                    job_path = f"/v1/jobs/{job['job_id']}/retry"
                    _button("Try again", partial(self._retry, job_path))

    async def _retry(self, path: str) -> None:
        try:
            await self.page.api.post(path)
        except ApiProblem as problem:
            notify_problem(problem)
            return
        self.timer.activate()
        await self._look_again()

    async def _confirm(self) -> None:
        await self._write("confirm", self.decisions.body(), "The import is in memory.")

    async def _ask_undo(self) -> None:
        with ui.dialog() as dialog, ui.element("div").classes("sg-card sg-dialog"):
            text("Take this import back?", "h2")
            text("Events, links, statuses, weights and graph become what they were before.", "p")
            with ui.element("div").classes("sg-row"):
                _button("Take it back", lambda: dialog.submit(True), main=True)
                _button("Keep it", lambda: dialog.submit(False))
        if await dialog:
            await self._write("undo", {}, "The import is taken back.")

    async def _write(self, step: str, body: dict[str, Any], done: str) -> None:
        try:
            await self.page.api.post(f"{self.path}/{step}", body)
        except ApiProblem as problem:
            self.told.clear()
            with self.told:
                error_state(problem)
            return
        notify_done(done)
        await self._look_again()

    def _fill(self) -> None:
        self.rows.clear()
        decisions = self.decisions if self._is_open else None
        with self.rows:
            with ui.element("ol").classes("sg-candidates"):
                for one in self.candidates[self.first : self.first + _SHOWN]:
                    candidate_card(self.page, one, decisions, self._changed)
            if len(self.candidates) > _SHOWN:
                self._turn_pages()
            if not self.candidates:
                text("No candidate is there yet.", "p", classes="sg-muted")

    def _turn_pages(self) -> None:
        last = min(len(self.candidates), self.first + _SHOWN)
        with ui.element("div").classes("sg-row"):
            said = f"{self.first + 1} to {last} of {len(self.candidates)}"
            text(said, "p", classes="sg-muted sg-grow")
            if self.first:
                _button("Those before", lambda: self._turn(-_SHOWN))
            if last < len(self.candidates):
                _button("The next ones", lambda: self._turn(_SHOWN))

    def _turn(self, by: int) -> None:
        self.first = max(0, self.first + by)
        self._fill()

    def _changed(self) -> None:
        self._summary.set_text(self._summed_up())


def _button(
    label: str, pressed: Callable[[], Awaitable[None] | None], *, main: bool = False
) -> None:
    classes = "sg-button sg-button-main" if main else "sg-button"
    with ui.element("button").props("type=button").classes(classes) as button:
        text(label)
    button.on("click", pressed)
