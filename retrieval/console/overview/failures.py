"""What failed, why, and the button that starts it again."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.components.acting import button, told
from retrieval.console.components.moments import moment
from retrieval.console.components.states import Tone, status_badge
from retrieval.console.components.table import Column, table
from retrieval.console.components.text import section, text
from retrieval.console.page_context import PageContext

_TONES: dict[str, Tone] = {"dead": "bad", "degraded": "busy", "cancelled": "calm"}
_MEANING = {
    "dead": "gave up after all attempts",
    "degraded": "done in part, some items were refused",
    "cancelled": "ended by a person",
}


def show_failures(page: PageContext, failures: dict[str, Any]) -> None:
    """Show the newest failed jobs; a block whose job failed keeps its messages in context."""
    with section("Failures", note="The newest first. A retry begins again with fresh attempts."):
        if not failures["items"]:
            text("Nothing failed.", "p", classes="sg-muted")
            return
        table(
            "Failed jobs",
            [
                Column("What", _what),
                Column("State", _state),
                Column("Why", _why),
                Column("Ended", lambda job: moment(job["finalized_at"])),
                Column("", lambda job: _retry(page, job)),
            ],
            failures["items"],
        )
        if failures["next_cursor"]:
            text(
                "There are more: `stratagate jobs list` shows all of them.", "p", classes="sg-hint"
            )


def _what(job: dict[str, Any]) -> None:
    with ui.element("div").classes("sg-stack sg-tight"):
        text(job["kind"].capitalize())
        text(job["subject"], classes="sg-mono sg-muted")


def _state(job: dict[str, Any]) -> None:
    with ui.element("div").classes("sg-stack sg-tight"):
        status_badge(job["state"], _TONES.get(job["state"], "calm"))
        text(_MEANING.get(job["state"], ""), classes="sg-hint")


def _why(job: dict[str, Any]) -> None:
    last = job["errors"][-1] if job["errors"] else None
    said = job["reason"] or ""
    if isinstance(last, dict):
        said = str(last.get("message") or last.get("detail") or last.get("error") or said)
    if not said and job["rejections"]:
        said = f"{len(job['rejections'])} items were refused"
    text(said or "–", "p", classes="sg-clamp")
    text(f"attempt {job['attempt']} of {job['max_attempts']}", classes="sg-hint")


def _retry(page: PageContext, job: dict[str, Any]) -> None:
    # The end of the run that failed is in the key: one click more asks for the same retry.
    key = f"console-{job['job_id']}-{job['finalized_at']}"
    button(
        "Retry",
        lambda: told(
            lambda: page.api.post(f"/v1/jobs/{job['job_id']}/retry", idempotency_key=key),
            done=f"{job['kind'].capitalize()} starts again.",
        ),
        name=f"Retry {job['kind']} of {job['subject']}",
    )
