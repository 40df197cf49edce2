"""Where an import begins: the prompt for the other assistant, and the place for its answer."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.states import error_state, notify_done
from retrieval.console.components.text import section, text
from retrieval.console.page_context import PageContext

LANGUAGES = {"en": "English", "zh": "中文"}
_SOURCES = {"auto": "Find out by itself", "stratagate": "StrataGate's own", "mem0": "mem0"}
# Outside https and this machine browsers give pages no clipboard: then the text is selected.
_COPY = """() => {
  const said = document.getElementById('%s');
  if (navigator.clipboard) { navigator.clipboard.writeText(said.textContent); return; }
  getSelection().selectAllChildren(said);
  document.execCommand('copy');
}"""


def prompts(told: Mapping[str, str]) -> None:
    """Show the prompt in each language, with a button that copies it."""
    note = "Paste this into the other assistant. It asks for one fact at a time, and no guesses."
    with section("1. Ask the other assistant", note=note):
        with ui.tabs().props("no-caps align=left dense") as tabs:
            for language in told:
                ui.tab(language, label=LANGUAGES[language])
        with ui.tab_panels(tabs, value=next(iter(told)), animated=False).classes("sg-panels"):
            for language, prompt in told.items():
                with ui.tab_panel(language), ui.element("div").classes("sg-stack"):
                    _prompt(language, prompt)


def paste(page: PageContext) -> None:
    """Offer the place for what the other assistant answered; sending it begins the preview."""
    # One key a form: pressing twice with the same text begins one import.
    key = secrets.token_urlsafe(16)
    note = "Nothing is written into memory before you have seen and confirmed it."
    with section("2. Paste what it answered", note=note):
        answer = ui.textarea("Its answer, as it is").props("outlined debounce=300 input-style")
        answer.props["input-style"] = "min-height: 240px"
        answer.classes("sg-wide")
        with ui.element("div").classes("sg-row"):
            source = ui.select(_SOURCES, value="auto", label="Its format")
            source.props("dense outlined options-dense").classes("sg-chooser")
            ui.space()
            with ui.element("button").props("type=button") as button:
                text("Preview")
            button.classes("sg-button sg-button-main")
        told = ui.element("div").classes("sg-stack").props("aria-live=polite")

        async def preview() -> None:
            body = {"text": answer.value or "", "source": source.value}
            path = page.write("imports")
            said = hashlib.sha256(f"{source.value} {answer.value}".encode()).hexdigest()
            try:
                begun = await page.api.post(path, body, idempotency_key=f"{key}-{said[:16]}")
            except ApiProblem as problem:
                told.clear()
                with told:
                    error_state(problem)
                return
            ui.navigate.to(page.url(**{"import": begun["import_id"]}))

        button.on("click", preview)


def earlier(page: PageContext) -> None:
    """Offer to open an import by its id: to go on with it, or to take it back."""
    with section("An earlier import"), ui.element("div").classes("sg-row"):
        field = ui.input("Its id", placeholder="imp_…").props("dense outlined maxlength=100")
        field.classes("sg-grow")
        with ui.element("button").props("type=button").classes("sg-button") as button:
            text("Open")

    def open_it() -> None:
        if field.value:
            ui.navigate.to(page.url(**{"import": field.value.strip()}))

    button.on("click", open_it)
    field.on("keydown.enter", open_it)


def _prompt(language: str, prompt: str) -> None:
    shown = text(prompt, "pre", classes="sg-prompt sg-import-prompt").props("tabindex=0")
    shown.props["lang"] = language
    with ui.element("div").classes("sg-row"):
        with ui.element("button").props("type=button") as button:
            text(f"Copy the prompt ({LANGUAGES[language]})")
        button.classes("sg-button sg-button-main")
        button.on("click", js_handler=_COPY % shown.html_id)
        button.on("click", lambda: notify_done("The prompt is copied."))


def begun_words(view: Mapping[str, Any]) -> str:
    """Say where what is imported came from."""
    names = {"stratagate": "StrataGate's format", "mem0": "mem0's format"}
    return names.get(str(view["source"]), "a text that a model read")
