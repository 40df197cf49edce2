"""The frame around every page: skip link, header, navigation, heading, and the page's own part.

Landmarks are `header`, `nav` and `main`; the keyboard meets them in this order. The choosers only
ever lead to another address, so that a page can be linked to and the back button works.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from retrieval.console.brand import LOGO
from retrieval.console.components.states import notify_done
from retrieval.console.components.text import text
from retrieval.console.navigation import PAGES
from retrieval.console.page_context import PageContext
from retrieval.console.signed_in import SignedIn

_DARK = {"auto": None, "light": False, "dark": True}
_NEXT_THEME = {"auto": "light", "light": "dark", "dark": "auto"}
_THEME_ICON = {"auto": "o_contrast", "light": "o_light_mode", "dark": "o_dark_mode"}
_THEME_NAME = {"auto": "as the system has it", "light": "light", "dark": "dark"}


@contextmanager
def framed(page: PageContext, signed_in: SignedIn, namespaces: Sequence[str]) -> Iterator[None]:
    """Build the frame; what is built inside becomes the page's own part."""
    dark = ui.dark_mode(_DARK[signed_in.theme])
    # Quasar opens it where there is room; asking the page instead would wait for its answer.
    drawer = ui.left_drawer(value=False).classes("sg-drawer").props("width=224 show-if-above")
    with drawer:
        _navigation(page)
    with ui.header(wrap=False).classes("sg-header"):
        ui.button(icon="o_menu", on_click=drawer.toggle).props(
            'flat round dense color=none aria-label="Navigation"'
        ).classes("sg-menu-button")
        with ui.link(target=page.url_of("overview")).classes("sg-brand"):
            ui.html(LOGO, sanitize=False).classes("sg-logo")
            text("StrataGate")
        _choosers(page, namespaces)
        ui.space()
        _theme_button(signed_in, dark)
        _account(signed_in)
    with ui.element("div").classes("sg-page") as content:
        with ui.element("div").classes("sg-page-head"):
            text(page.entry.title, "h1")
            text(page.entry.question, "p", classes="sg-muted")
        for note in signed_in.notes:
            notify_done(note)
        signed_in.notes.clear()
        yield
        asked = page.api.calls
        said = f"This page asked the API {asked} time{'' if asked == 1 else 's'}."
        text(said, "p", classes="sg-foot").props["data-queries"] = str(asked)
    ui.skip_link("Skip to the page", target=content)


def _navigation(page: PageContext) -> None:
    with ui.element("nav").props('aria-label="Pages"').classes("sg-nav"):
        for entry in PAGES:
            link = ui.link(target=page.url_of(entry.slug)).classes("sg-nav-link")
            if entry.slug == page.entry.slug:
                link.props("aria-current=page")
            with link:
                ui.icon(entry.icon).props("aria-hidden=true")
                text(entry.title)


def _choosers(page: PageContext, namespaces: Sequence[str]) -> None:
    def choose_namespace(event: ValueChangeEventArguments[str | None]) -> None:
        if event.value and event.value != page.namespace:
            ui.navigate.to(page.url_of(page.entry.slug, namespace=event.value, thread=None))

    def choose_thread(event: ValueChangeEventArguments[str | None]) -> None:
        if event.value and event.value != page.thread:
            ui.navigate.to(page.url_of(page.entry.slug, thread=event.value))

    known = list(dict.fromkeys([*namespaces, *([page.namespace] if page.namespace else [])]))
    names = [str(thread["thread_id"]) for thread in page.threads]
    threads = list(dict.fromkeys([*names, *([page.thread] if page.thread else [])]))
    with ui.element("div").classes("sg-choosers").props('role=group aria-label="What is shown"'):
        ui.select(
            known,
            value=page.namespace,
            label="Namespace",
            with_input=True,
            new_value_mode="add-unique",
            on_change=choose_namespace,
        ).props("dense outlined options-dense").classes("sg-chooser").mark("namespace")
        if threads:
            ui.select(
                threads,
                value=page.thread,
                label="Thread",
                with_input=True,
                new_value_mode="add-unique",
                on_change=choose_thread,
            ).props("dense outlined options-dense").classes("sg-chooser").mark("thread")


def _theme_button(signed_in: SignedIn, dark: ui.dark_mode) -> None:
    def describe() -> None:
        button.set_icon(_THEME_ICON[signed_in.theme])
        said = f"Colours: {_THEME_NAME[signed_in.theme]}. Change."
        button.props["aria-label"] = said
        button.props["title"] = said

    def change() -> None:
        signed_in.theme = _NEXT_THEME[signed_in.theme]
        dark.value = _DARK[signed_in.theme]
        describe()

    button = ui.button(on_click=change).props("flat round dense color=none").classes("sg-theme")
    describe()


def _account(signed_in: SignedIn) -> None:
    with ui.element("form").props("method=post action=/sign-out").classes("sg-account"):
        text(signed_in.masked_key, classes="sg-key").props('title="The key that is signed in"')
        with ui.element("button").props("type=submit").classes("sg-button"):
            text("Sign out")
