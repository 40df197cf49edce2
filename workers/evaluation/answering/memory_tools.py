"""The product's own tools over HTTP: as the manifest describes them, and what a reply shows.

A model is shown few, short, numbered items; code keeps which evidence ref a number stands for.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import httpx

from workers.evaluation.answering.note import dated
from workers.evaluation.client import call
from workers.evaluation.question_set import EVIDENCE_KEY

SEARCHES: Final = ("memory_search_events", "memory_search_raw")
EXPAND: Final = "memory_expand_event"
ASSESS: Final = "memory_assess"
RECORD: Final = "memory_record_use"
_FORMS: Final = {"month": "%B %Y", "year": "%Y"}
_SENTENCE: Final = re.compile(r"(?<=[.:;])\s+")


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a tool's reply: its evidence ref, its words, the labelled messages beneath.

    `event_id` is set where the item can be expanded.
    """

    ref: str
    text: str
    ids: frozenset[str]
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A reply that made a batch."""

    batch_id: str
    items: Sequence[Item]
    empty_reason: str | None = None


@dataclass(slots=True)
class MemoryTools:
    """The tools of one namespace. `shown` bounds the items of a reply, `characters` each item."""

    client: httpx.Client
    namespace: str
    shown: int = 5
    characters: int = 240
    _sources: dict[str, frozenset[str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def search(self, tool: str, query: str, *, thread: str) -> Found:
        """Call a search tool. Raises Refused or Unavailable, as all methods here."""
        reply = self._call(tool, {"query": query, "limit": self.shown}, thread)
        make = self._event if tool == SEARCHES[0] else self._message
        items = [make(item) for item in reply["items"][: self.shown]]
        return Found(str(reply["batch_id"]), items, reply.get("empty_reason"))

    def expand(self, event_id: str, *, thread: str) -> Found:
        """Read an event whole: its words, then the messages it rests on."""
        reply = self._call(EXPAND, {"event_id": event_id}, thread)
        event = reply["event"]
        said = [_said(message) for message in event["source_messages"]]
        text = _cut(" | ".join([str(event["summary"]), *said]), 3 * self.characters)
        item = Item(str(reply["evidence_ref"]), text, _labels(event["source_messages"]), event_id)
        return Found(str(reply["batch_id"]), [item])

    def assess(
        self, found: Found, verdict: str, refs: Sequence[str], *, question: str, thread: str
    ) -> Mapping[str, Any]:
        """Submit an assessment and return it as it counts."""
        arguments = {
            "batch_id": found.batch_id,
            "verdict": verdict,
            "evidence_refs": list(refs)[:8],
            "question": question,
            "next_strategy": "answer" if verdict == "sufficient" else "search_raw_memory",
        }
        return self._call(ASSESS, arguments, thread)

    def record(self, batch_id: str, refs: Sequence[str], *, thread: str) -> None:
        """Record what an answer used; the same batch again changes nothing."""
        self._call(RECORD, {"batch_id": batch_id, "evidence_refs": list(refs)}, thread)

    def _call(self, tool: str, arguments: Mapping[str, Any], thread: str) -> dict[str, Any]:
        body = {"namespace": self.namespace, "thread_id": thread, "arguments": dict(arguments)}
        return call(self.client, "POST", f"/v1/tools/{tool}", body)

    def _message(self, item: Mapping[str, Any]) -> Item:
        text = _cut(_said(item["message"]), self.characters)
        return Item(str(item["evidence_ref"]), text, _labels([item["message"]]))

    def _event(self, item: Mapping[str, Any]) -> Item:
        event_id, temporal = str(item["event_id"]), item["temporal"]
        title, summary = str(item["title"]), str(item["summary"])
        told = summary if summary.startswith(title.rstrip(".…")) else f"{title}: {summary}"
        happened = _happened(temporal)
        room = self.characters - len(happened)
        text = _cut(dated(_time(temporal["mentioned_at"]), None, told), room) + happened
        return Item(str(item["evidence_ref"]), text, self._labels_of(event_id), event_id)

    def _labels_of(self, event_id: str) -> frozenset[str]:
        """Return the labelled messages an event rests on, which its card does not name."""
        with self._lock:
            known = self._sources.get(event_id)
        if known is None:
            path = f"/v1/retrieval/{self.namespace}/events/{event_id}"
            known = _labels(call(self.client, "GET", path, None)["source_messages"])
            with self._lock:
                self._sources[event_id] = known
        return known


def described_tools(client: httpx.Client, *, sentences: int) -> str:
    """Return the loop's tools as `GET /v1/tools` describes them, one a line.

    `sentences` keeps the first ones of each description; 0 keeps all.
    """
    listed = call(client, "GET", "/v1/tools", None)["items"]
    held = {tool["name"]: str(tool["description"]) for tool in listed}
    names = (*SEARCHES, EXPAND, ASSESS)
    return "\n".join(f"- {name}: {_first(held[name], sentences)}" for name in names)


def _first(text: str, sentences: int) -> str:
    return " ".join(_SENTENCE.split(text)[:sentences]) if sentences else text


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def _said(message: Mapping[str, Any]) -> str:
    who = message["name"] or message["role"]
    return dated(_time(message["occurred_at"]), str(who), str(message["content"]))


def _happened(temporal: Mapping[str, Any]) -> str:
    """Return when an event happened, as precisely as that is known, behind its words."""
    at = _time(temporal["happened_start"])
    if at is None:
        return ""
    form = _FORMS.get(temporal["precision"], f"{at.day} %B %Y")
    return f" (happened {at.strftime(form)})"


def _time(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


def _labels(messages: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(_named(messages))


def _named(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        label = message["metadata"].get(EVIDENCE_KEY)
        if label is not None:
            yield str(label)
