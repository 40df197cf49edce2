"""A thread's retrieval, oldest first: what was searched, found, judged and used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from retrieval.console.components.figures import counted
from retrieval.console.components.moments import moment
from retrieval.console.components.states import notice, status_badge
from retrieval.console.components.text import text

Batch = Mapping[str, Any]
_NAMED_ITEMS = 5
_LAST_DIGITS = 6


def transcript(told: Mapping[str, Any]) -> None:
    """Show a page of a transcript, and the sentence a host gives its model at the end."""
    notice(str(told["instruction"]), "good" if told["is_sufficient"] else "busy")
    with ui.element("ol").classes("sg-transcript"):
        for batch in told["items"]:
            with ui.element("li").classes("sg-transcript-item"):
                _batch(batch)
    with ui.element("details").classes("sg-ground"):
        text("The same as one text, as a host passes it to its model", "summary")
        text(told["text"], "pre", classes="sg-prompt").props("tabindex=0")


def _batch(batch: Batch) -> None:
    with ui.element("div").classes("sg-row"):
        text(batch["tool"], classes="sg-mono")
        if batch["query"]:
            text(f"“{batch['query']}”", classes="sg-found-title")
        moment(batch["at"])
        if batch["is_expired"] and batch["use_receipt_id"] is None:
            status_badge("expired", "calm")
    text(_found(batch), "p", classes="sg-hint")
    for judged in batch["assessments"]:
        _judged(judged)
    if batch["used"] is not None:
        used = counted(len(batch["used"]), "ref") if batch["used"] else "nothing"
        status_badge(f"used {used}", "info", icon="o_receipt_long")
    elif not batch["assessments"]:
        text("Not judged.", "p", classes="sg-hint")


def _found(batch: Batch) -> str:
    items = batch["items"]
    if not items:
        return "Nothing was found."
    named = [item["title"] or _short(item["evidence_ref"]) for item in items[:_NAMED_ITEMS]]
    more = len(items) - len(named)
    return "Found " + "; ".join(named) + (f"; and {more} more." if more else ".")


def _judged(judged: Mapping[str, Any]) -> None:
    is_sufficient = judged["verdict"] == "sufficient"
    with ui.element("div").classes("sg-row"):
        status_badge(f"judged {judged['verdict']}", "good" if is_sufficient else "busy")
        said = [judged["fit"], f"Missing: {judged['missing']}" if judged["missing"] else ""]
        text(" ".join(part for part in said if part))
    for advisory in judged["advisories"]:
        text(f"Advisory: {advisory['message']}", "p", classes="sg-hint")


def _short(ref: str) -> str:
    """Name an item without a title by its kind and the end of its id."""
    kind, _, rest = ref.partition(":")
    return f"{kind} …{rest.split(':')[0][-_LAST_DIGITS:]}"
