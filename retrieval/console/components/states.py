"""States in words: nothing there, something refused, something done; and the badge of a status.

A colour never says alone what is meant: each badge has an icon and its word.
"""

from __future__ import annotations

from typing import Literal

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.text import text

Tone = Literal["good", "busy", "bad", "calm", "info"]
_ICONS: dict[Tone, str] = {
    "good": "o_check_circle",
    "busy": "o_schedule",
    "bad": "o_error_outline",
    "calm": "o_radio_button_unchecked",
    "info": "o_info",
}


def status_badge(said: str, tone: Tone = "calm", *, icon: str = "") -> ui.element:
    """Show a status as an icon and its word."""
    with ui.element("span").classes(f"sg-badge sg-{tone}") as badge:
        ui.icon(icon or _ICONS[tone]).props("aria-hidden=true")
        text(said)
    return badge


def empty_state(title: str, said: str = "", *, icon: str = "o_inbox") -> ui.element:
    """Say that there is nothing, and why or what to do."""
    with ui.element("div").classes("sg-empty") as state:
        ui.icon(icon).props("aria-hidden=true")
        text(title, "p", classes="sg-empty-title")
        if said:
            text(said, "p", classes="sg-muted")
    return state


def error_state(problem: ApiProblem) -> ui.element:
    """Say what the API refused, in words, with the request's id for whoever looks it up."""
    with ui.element("div").classes("sg-notice sg-notice-bad").props("role=alert") as state:
        text(problem.title, "p", classes="sg-notice-title")
        text(problem.message, "p")
        for broken in problem.fields:
            text(f"{broken.pointer}: {broken.message}", "p", classes="sg-mono")
        if problem.request_id:
            text(f"Request {problem.request_id}, code {problem.code}", "p", classes="sg-hint")
    return state


def notice(said: str, tone: Tone = "info") -> ui.element:
    """Say something beside the content, calmly."""
    with ui.element("div").classes(f"sg-notice sg-notice-{tone}").props("role=note") as shown:
        text(said, "p")
    return shown


def notify_problem(problem: ApiProblem) -> None:
    """Say briefly, after a click, what the API refused."""
    ui.notify(problem.message, type="negative", position="top", close_button="Close", timeout=0)


def notify_done(said: str) -> None:
    """Say briefly, after a click, what was done."""
    ui.notify(said, type="positive", position="top")
