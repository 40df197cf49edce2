"""Graph: a picture to explore, now or as it was on a day; a table says the same in words."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.figures import counted, number
from retrieval.console.components.states import empty_state, notify_problem
from retrieval.console.components.table import Column, table
from retrieval.console.components.text import section, text
from retrieval.console.graph.as_of import AsOf
from retrieval.console.graph.explored import PAGE_NODES, Explored, Node
from retrieval.console.graph.node_panel import HISTORY_ITEMS, node_panel
from retrieval.console.graph.picture import picture
from retrieval.console.page_context import PageContext
from retrieval.console.redrawing import redraw_with_theme
from shared.clock import SystemClock

_TABLE_ROWS = 100


async def render(page: PageContext) -> None:
    """Build the page: two queries, and one more where the address names a node."""
    first = await page.api.get(page.read("timeline"), limit=1)
    oldest, zone = _oldest(first["items"])
    explored = Explored(zone=zone, at=_asked_day(page.query.get("at")))
    await fetch(page, explored)
    if not explored.node_count:
        empty_state(
            "No people, projects or places are known yet",
            "They are derived from events, after a block has been sealed and summarised.",
            icon="o_hub",
        )
        return
    history = None
    if chosen := page.query.get("node"):
        history = await read_history(page, chosen)
    GraphPage(page, explored, oldest).build(history)


async def fetch(page: PageContext, explored: Explored) -> None:
    """Add the next page of nodes to what is shown."""
    drawn = await page.api.get(
        page.read("graph"), limit=PAGE_NODES, cursor=explored.next_cursor, **explored.query()
    )
    explored.add_page(drawn)


async def read_history(page: PageContext, node_id: str) -> dict[str, Any]:
    """Return a node's beliefs, oldest first."""
    path = page.read(f"graph/nodes/{node_id}/history")
    found: dict[str, Any] = await page.api.get(path, limit=HISTORY_ITEMS)
    return found


class GraphPage:
    """The page as one browser explores it."""

    def __init__(self, page: PageContext, explored: Explored, oldest: date) -> None:
        self.page = page
        self.explored = explored
        self.oldest = oldest
        self.history: dict[str, Any] | None = None
        self.is_past_shown = True

    def build(self, history: dict[str, Any] | None) -> None:
        """Build the controls, the picture, the panel and the table."""
        self.history = history
        with section("As it was on", note=f"At the end of that day, {self.explored.zone}."):
            AsOf(self.oldest, self.explored.at, self.change_day)
        with ui.element("div").classes("sg-graph-columns") as self.columns:
            with section("Picture") as card:
                card.classes("sg-graph-card")
                self._picture()
            with section("Node") as panel:
                panel.classes("sg-node-panel").props("aria-live=polite")
                self.panel = ui.element("div").classes("sg-stack")
        with section("The same as a table"):
            self.rows = ui.element("div").classes("sg-stack")
        self._fill_panel()
        self._fill_table()

    async def change_day(self, day: date | None) -> None:
        """Show the graph as it stood at the end of a day, or as it stands now."""
        shown = max(1, len(self.explored.seen))
        self.explored.begin_again(day)
        try:
            await fetch(self.page, self.explored)
            while self.explored.next_cursor and len(self.explored.seen) < shown:
                await fetch(self.page, self.explored)
        except ApiProblem as problem:
            notify_problem(problem)
        self._show()

    async def choose(self, node_id: str) -> None:
        """Open a node: what was believed of it, and on what."""
        try:
            self.history = await read_history(self.page, node_id)
        except ApiProblem as problem:
            notify_problem(problem)
            return
        self._show()

    async def more(self) -> None:
        """Add the next page of nodes."""
        try:
            await fetch(self.page, self.explored)
        except ApiProblem as problem:
            notify_problem(problem)
        self._show()

    def expand(self) -> None:
        """Add the chosen node's neighbours to the picture."""
        for belief in (self.history or {}).get("items", ()):
            if belief["edge"]:
                self.explored.add_edge(belief["edge"])
        self._show()

    @property
    def chosen(self) -> str | None:
        """The id of the node in the panel."""
        return self.history["node_id"] if self.history else None

    def _show(self) -> None:
        self.chart.options.clear()
        self.chart.options.update(self._options())
        self.chart.update()
        self._said.set_text(self._summary())
        self._more.set_visibility(self.explored.next_cursor is not None)
        self._fill_panel()
        self._fill_table()
        at = self.explored.at.isoformat() if self.explored.at else None
        with self.columns:  # what was pressed may be gone by now
            ui.navigate.history.replace(self.page.url(at=at, node=self.chosen))

    def _picture(self) -> None:
        self._said = text(self._summary(), "p", classes="sg-hint").props("role=status")
        # Its size stands before any style sheet is there: the chart measures itself at once.
        self.chart = ui.echart(self._options()).classes("sg-graph").style("height: 560px")
        self.chart.on("componentClick", self._clicked, ["dataType", "data"])
        self.chart.props["role"] = "img"
        self.chart.props["aria-label"] = (
            "Picture of nodes and relations. The table below says the same, and opens each node."
        )
        redraw_with_theme(self.chart)
        with ui.element("div").classes("sg-row"):
            ui.checkbox(
                "Relations that no longer hold", value=True, on_change=self._toggle_past
            ).props("dense")
            ui.space()
            with ui.element("button").props("type=button").classes("sg-button") as self._more:
                text(f"Show {PAGE_NODES} more nodes")
            self._more.on("click", self.more)
            self._more.set_visibility(self.explored.next_cursor is not None)

    async def _clicked(self, event: GenericEventArguments) -> None:
        if event.args.get("dataType") == "node":
            await self.choose(str(event.args["data"]["id"]))

    def _toggle_past(self) -> None:
        self.is_past_shown = not self.is_past_shown
        self._show()

    def _options(self) -> dict[str, Any]:
        return picture(self.explored, chosen=self.chosen, past=self.is_past_shown)

    def _summary(self) -> str:
        known = len(self.explored.seen)
        held = sum(edge["is_current"] for edge in self.explored.edges.values())
        return (
            f"{number(known)} of {counted(self.explored.node_count, 'node')} shown, "
            f"{counted(held, 'relation')} held. Drag to move, scroll to zoom, choose to read."
        )

    def _fill_panel(self) -> None:
        self.panel.clear()
        with self.panel:
            if self.history is None:
                empty_state(
                    "No node is chosen",
                    "Choose one in the picture, or in the table below.",
                    icon="o_touch_app",
                )
                return
            node_panel(
                self.page, self.explored, self.history, choose=self.choose, expand=self.expand
            )

    def _fill_table(self) -> None:
        self.rows.clear()
        seen = self.explored.seen
        with self.rows:
            if not seen:
                text("Nothing was known on that day.", "p", classes="sg-muted")
                return
            table("Nodes", self._columns(), seen[:_TABLE_ROWS])
            if len(seen) > _TABLE_ROWS:
                text(f"The first {_TABLE_ROWS} by name.", "p", classes="sg-hint")

    def _columns(self) -> list[Column[Node]]:
        return [
            Column("Node", self._node_button),
            Column("Type", lambda node: text(str(node["type"]))),
            Column("State", lambda node: text(str(node["current_state"]), classes="sg-pre")),
            Column("Relations", self._relations),
        ]

    def _node_button(self, node: Node) -> None:
        button = ui.element("button").props("type=button").classes("sg-link-button")
        with button:
            text(str(node["name"]))
        button.props["data-node"] = str(node["name"])
        button.on("click", lambda: self.choose(str(node["node_id"])))

    def _relations(self, node: Node) -> None:
        with ui.element("ul"):
            for edge in self.explored.edges.values():
                if edge["from_node_id"] == node["node_id"]:
                    past = "" if edge["is_current"] else " (no longer)"
                    said = f"{edge['relation'].replace('_', ' ')} {edge['to_name']}{past}"
                    text(said, "li")


def _oldest(items: list[dict[str, Any]]) -> tuple[date, str]:
    """Return the day of the oldest event, and its zone, in which days are counted."""
    if not items:
        return SystemClock().now().date(), "UTC"
    zone = items[0]["event"]["temporal"]["zone"] or "UTC"
    return datetime.fromisoformat(items[0]["at"]).date(), zone


def _asked_day(said: str | None) -> date | None:
    try:
        return date.fromisoformat(said) if said else None
    except ValueError:
        return None
