"""What the demo shows of one conversation: levels, timeline, graph, search, gate, receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from deploy.demo_state import state_lines

QUESTION = "Since when does Orion use pnpm, and why?"
_LEVEL_COLOURS = ("red", "dark_orange", "yellow", "green", "cyan", "blue")


class Walk:
    """The walk over one namespace, a section a step, in the order of `docs/walk.md`."""

    def __init__(self, api: httpx.Client, namespace: str, console: Console) -> None:
        self._api = api
        self._namespace = namespace
        self._console = console

    def show(self) -> None:
        """Show every section; raises httpx.HTTPStatusError when the API refuses one."""
        sections: tuple[tuple[str, Callable[[], None]], ...] = (
            ("1-4  Blocks: recent ones detailed, older ones condensed", self._blocks),
            ("5  Events: what was said, and when it happened", self._timeline),
            ("6  The graph: what holds now, and what held before", self._graph),
            ("7-10  A question, the gate, and a receipt", self._question),
        )
        for title, section in sections:
            self._console.print()
            self._console.rule(f"[bold]{title}[/]")
            section()

    def _blocks(self) -> None:
        blocks = self._get("blocks", scope="namespace")["items"]
        table = Table("thread", "turns", "age", "level", "tokens", "what an agent sees of it")
        for block in blocks:
            level = block["level"]
            first_line = block["content"].strip().splitlines()[0]
            table.add_row(
                block["thread_id"],
                "–".join(str(turn) for turn in block["turn_range"]),
                str(block["age"]),
                f"[{_LEVEL_COLOURS[level]}]L{level}[/]",
                str(block["tokens"]),
                _short(first_line, 74),
            )
        self._console.print(table)

    def _timeline(self) -> None:
        table = Table("happened", "said", "type", "event", "weight")
        for item in self._get("timeline", limit=100)["items"]:
            event, time = item["event"], item["event"]["temporal"]
            words = f" [dim]“{time['original_text']}”[/]" if time["original_text"] else ""
            gone = event["status"] == "superseded"
            title = f"[strike dim]{event['title']}[/]" if gone else event["title"]
            table.add_row(
                f"{time['happened_start'] or '[dim]unknown[/]'}{words}",
                (time["mentioned_at"] or "")[:10],
                event["event_type"],
                title + (" [red]!safety[/]" if event["criticality"] == "safety" else ""),
                f"{event['weight']:.2f}",
            )
        self._console.print(table)
        self._console.print("[dim]Struck through: superseded. Dates come from the words in “”.[/]")

    def _graph(self) -> None:
        table = Table("node", "type", "holds now", "held before")
        for node in self._get("graph", limit=100)["nodes"]:
            history = self._get(f"graph/nodes/{node['node_id']}/history")
            now, before = state_lines(history["items"])
            if now or before:
                # Escaped: a mark such as [planned] is text, not a style.
                shown = escape("; ".join(now))
                table.add_row(
                    node["name"], node["type"], shown, f"[dim]{escape('; '.join(before))}[/]"
                )
        self._console.print(table)

    def _question(self) -> None:
        self._console.print(Panel(f"[bold]{QUESTION}[/]", title="the agent is asked"))
        found = self._post("events/search", {"query": QUESTION, "thread_id": "orion", "limit": 4})
        self._items(found)
        best = found["items"][0]
        partial = self._assess(
            found,
            {
                "verdict": "partial",
                "evidence_refs": [best["evidence_ref"]],
                "fit": "says that it switched, and why",
                "missing": "since when",
                "next_strategy": "expand_event",
            },
        )
        self._verdict(partial, "The card has the reason, but no date of the switch.")

        detail = self._post(f"events/{best['event_id']}/expand", {"thread_id": "orion"})
        for message in detail["event"]["source_messages"]:
            self._console.print(f"  [cyan]{message['occurred_at']}[/]  {message['content']}")
        sufficient = self._assess(
            detail,
            {
                "verdict": "sufficient",
                "evidence_refs": [detail["evidence_ref"]],
                "fit": "the source message says it, with its date",
                "missing": "",
                "next_strategy": "answer",
            },
        )
        self._verdict(sufficient, "The source message says it, and when it was said.")
        self._use(detail)

    def _use(self, detail: dict[str, Any]) -> None:
        used = self._send(
            f"/v1/batches/{detail['batch_id']}/use",
            {
                "receipt_id": f"{self._namespace}:answer-1",
                "evidence_refs": [detail["evidence_ref"]],
            },
        )
        self._console.print(f"Receipt [bold]{used['use_receipt_id']}[/]:")
        for event in used["events"]:
            self._console.print(
                f"  {event['event_id']} used {event['n'] - 1} time(s); weight "
                f"{event['weight_before']:.4f} → [bold green]{event['weight']:.4f}[/]"
            )
        self._console.print("[dim]Only this event grew; the searches changed no weight.[/]")

    def _items(self, found: dict[str, Any]) -> None:
        table = Table("evidence", "event", "status", "why it matched")
        for item in found["items"]:
            table.add_row(
                _short(item["evidence_ref"], 18),
                _short(item["summary"], 60),
                item["status"],
                _short(item["match_reason"] or "", 50),
            )
        self._console.print(table)

    def _assess(self, batch: dict[str, Any], assessment: dict[str, Any]) -> dict[str, Any]:
        body = assessment | {"question": QUESTION}
        return self._send(f"/v1/batches/{batch['batch_id']}/assessment", body)

    def _verdict(self, assessment: dict[str, Any], why: str) -> None:
        colour = "green" if assessment["verdict"] == "sufficient" else "yellow"
        self._console.print(f"The gate: [bold {colour}]{assessment['verdict']}[/]. {why}")
        for advisory in assessment["advisories"]:
            self._console.print(f"  [dim]advisory: {advisory['message']}[/]")

    def _get(self, path: str, **query: Any) -> dict[str, Any]:
        answer = self._api.get(f"/v1/retrieval/{self._namespace}/{path}", params=query)
        answer.raise_for_status()
        body: dict[str, Any] = answer.json()
        return body

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._send(f"/v1/retrieval/{self._namespace}/{path}", body)

    def _send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._api.post(path, json=body)
        answer.raise_for_status()
        reply: dict[str, Any] = answer.json()
        return reply


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
