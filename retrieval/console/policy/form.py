"""The form of one policy: its entries, what is set here and what follows, and saving changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.states import error_state, notice, notify_done, status_badge
from retrieval.console.components.text import text
from retrieval.console.decay import suggested_lambda
from retrieval.console.page_context import PageContext
from retrieval.console.policy.entries import Entry, Kind
from retrieval.console.policy.fading import Fading, fading_picture

_SIZE, _LAMBDA = "block_turn_size", "block_decay_lambda"
_PAIR = ("provider", "model")


class PolicyForm:
    """One policy in one browser: the namespace's own, or the tenant's default."""

    def __init__(
        self, page: PageContext, path: str, view: Mapping[str, Any], *, follows: str, own: str
    ) -> None:
        self._page = page
        self._path = path
        self._view = view
        self._follows = follows
        self._own = own
        self._fields: dict[str, Any] = {}
        self._entries: dict[str, Entry] = {}
        self._picture: ui.element | None = None
        self._applies = False

    def group(self, entries: Sequence[Entry]) -> None:
        """Build the rows of some entries."""
        with ui.element("div").classes("sg-settings"):
            for entry in entries:
                self._row(entry)

    def fading(self) -> None:
        """Build the picture of what decay does; it follows the fields while they are changed."""
        self._picture = ui.element("div").classes("sg-stack").props("aria-live=polite")
        self._draw()
        for name in (_SIZE, _LAMBDA):
            self._fields[name].on_value_change(self._draw)

    def saving(self, *, offers_existing: bool = False) -> None:
        """Build the button that sends what was changed, and the place of its answer."""
        if offers_existing:
            ui.checkbox("Also write what is changed here over every namespace's own").props(
                "dense"
            ).bind_value_to(self, "_applies")
        with ui.element("div").classes("sg-row"):
            with ui.element("button").props("type=button") as button:
                text(f"Save {self._own}")
            button.classes("sg-button sg-button-main").on("click", self._save)
        self._told = ui.element("div").classes("sg-stack").props("aria-live=polite")
        with self._told:
            self._warn()

    def changes(self) -> dict[str, Any]:
        """Return what differs from the policy as it was shown, as the API takes it."""
        policy = self._view["policy"]
        changed: dict[str, Any] = {}
        for name, entry in self._entries.items():
            value = _written(entry, self._fields[name].value)
            if value == entry.read(policy):
                continue
            if name.startswith("stages."):
                changed.setdefault("stages", {})[name.removeprefix("stages.")] = value
            else:
                changed[name] = value
        if any(name in changed for name in _PAIR):
            for name in _PAIR:
                changed[name] = _written(self._entries[name], self._fields[name].value)
        return changed

    def _row(self, entry: Entry) -> None:
        self._entries[entry.name] = entry
        with ui.element("div").classes("sg-setting"):
            with ui.element("div").classes("sg-stack sg-tight"):
                text(entry.title, "p", classes="sg-setting-title")
                text(entry.said, "p", classes="sg-hint")
            self._fields[entry.name] = _field(entry, entry.read(self._view["policy"]), self._own)
            with ui.element("div").classes("sg-setting-origin"):
                self._origin(entry)

    def _origin(self, entry: Entry) -> None:
        overrides = self._view["overrides"]
        stage = entry.name.removeprefix("stages.")
        own = stage in (overrides.get("stages") or {}) if stage != entry.name else False
        if entry.name not in overrides and not own:
            text(self._follows, classes="sg-hint")
            return
        status_badge("set here", "info", icon="o_edit")
        if stage == entry.name:
            names = _PAIR if entry.name in _PAIR else (entry.name,)
            with ui.element("button").props("type=button").classes("sg-link-button") as button:
                text("Follow the default")
            button.props["aria-label"] = f"Follow the default: {entry.title}, {self._own}"
            button.on("click", lambda: self._send(dict.fromkeys(names)))

    def _draw(self) -> None:
        if self._picture is None:
            return
        now = Fading.of(self._view["policy"])
        size, decay = self._fields[_SIZE].value, self._fields[_LAMBDA].value
        self._picture.clear()
        with self._picture:
            if not size or size < 1 or decay is None or decay < 0:
                fading_picture(now, None)
                return
            then = Fading(int(size), float(decay))
            fading_picture(now, None if then == now else then)
            if then.size != now.size:
                self._suggest(
                    suggested_lambda(now.decay_lambda, size=now.size, new_size=then.size),
                    then.decay_lambda,
                )

    def _suggest(self, suggested: float, chosen: float) -> None:
        if abs(suggested - chosen) < 1e-9:
            text(f"λ {suggested:.2f} keeps the decay per turn as it was.", "p", classes="sg-hint")
            return
        with ui.element("div").classes("sg-row sg-suggestion"):
            text(f"λ {suggested:.2f} would keep the decay per turn as it is.", "p")
            with ui.element("button").props("type=button").classes("sg-button") as button:
                text(f"Take λ {suggested:.2f}")
            button.on("click", lambda: self._fields[_LAMBDA].set_value(suggested))

    async def _save(self) -> None:
        changed = self.changes()
        if not changed:
            self._say(lambda: notice("Nothing is changed."))
            return
        if self._applies:
            changed["apply_to_existing"] = True
        await self._send(changed)

    async def _send(self, changed: dict[str, Any]) -> None:
        try:
            saved = await self._page.api.patch(self._path, changed)
        except ApiProblem as problem:
            said = problem
            self._say(lambda: error_state(said))
            return
        self._view = saved
        notify_done(f"Saved {self._own}.")
        for name, entry in self._entries.items():
            self._fields[name].set_value(_shown(entry, entry.read(saved["policy"])))
        self._draw()
        self._say(lambda: self._saved(saved))

    def _saved(self, saved: Mapping[str, Any]) -> None:
        notice("Saved. It holds from now on; sealed blocks stay as they are.", "good")
        sealed = saved.get("sealed_block_ids") or ()
        if sealed:
            notice(f"The smaller size sealed {len(sealed)} blocks at once.")
        changed = saved.get("namespaces_changed")
        if changed:
            notice(f"It was written to {changed} namespaces.")
        suggested = saved.get("suggested_block_decay_lambda")
        if suggested is not None and suggested != saved["policy"][_LAMBDA]:
            with ui.element("div").classes("sg-row sg-suggestion"):
                text(f"The API suggests λ {suggested:.2f}: it keeps the decay per turn.", "p")
                with ui.element("button").props("type=button").classes("sg-button") as button:
                    text(f"Adopt λ {suggested:.2f}")
                button.on("click", self._adopting(suggested))
        self._warn()

    def _adopting(self, suggested: float) -> Callable[[], Awaitable[None]]:
        async def adopt() -> None:
            await self._send({_LAMBDA: suggested})

        return adopt

    def _warn(self) -> None:
        for warning in self._view["warnings"]:
            notice(str(warning), "busy")

    def _say(self, build: Callable[[], object]) -> None:
        self._told.clear()
        with self._told:
            build()


def _field(entry: Entry, value: Any, whose: str) -> Any:
    name = f"{entry.title}, {whose}"
    if entry.kind is Kind.SWITCH:
        field: Any = ui.switch(value=bool(value)).props("dense")
    elif entry.kind is Kind.CHOICE:
        field = ui.select(dict(entry.choices), value=value).props("dense outlined options-dense")
    elif entry.kind is Kind.TEXT:
        longest = int(entry.high or 0)
        field = ui.input(value=value or "", placeholder=entry.none)
        field.props(f"dense outlined maxlength={longest}")
    else:
        field = ui.number(
            value=value,
            min=entry.low,
            max=entry.high,
            step=entry.step,
            precision=0 if entry.kind is Kind.WHOLE else 4,
            suffix=entry.unit or None,
            placeholder=entry.none,
        ).props("dense outlined")
    field.props["aria-label"] = name
    return field.classes("sg-setting-field")


def _shown(entry: Entry, value: Any) -> Any:
    return value or "" if entry.kind is Kind.TEXT else value


def _written(entry: Entry, value: Any) -> Any:
    """Return a field's value as the API takes it: empty is null, whole numbers are whole."""
    if entry.kind is Kind.TEXT:
        return (value or "").strip() or None
    if value is None or entry.kind in (Kind.SWITCH, Kind.CHOICE):
        return value
    return int(value) if entry.kind is Kind.WHOLE else float(value)
