"""How the vectors of the lexical primitives, event search and activation meet the domain.

The reference fuses a soft search: a filter that nothing satisfies becomes a hint. The product's
filters are hard (D20), so that composition lives here and is built from the product's parts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from shared.domain.activation import (
    EVENT_HITS,
    ActivationCandidate,
    EventLine,
    NodeLine,
    activation_order,
    chosen_events,
    chosen_nodes,
    is_always_considered,
    render_activated,
)
from shared.domain.bm25 import bm25_scores, weighted_tokens
from shared.domain.event_filters import (
    VISIBLE_STATUSES,
    FilterableEvent,
    TemporalIntent,
    Window,
    names_all,
    occurred_within,
    structured_order,
)
from shared.domain.event_types import event_type_of
from shared.domain.events import Criticality, EventStatus, EventTime
from shared.domain.fusion import RankFused, reciprocal_rank_fusion
from shared.domain.ordering import collation_key
from shared.domain.tokens import fuzzy_match, normalise, reference_tokens
from shared.domain.weights import event_weight

Json = dict[str, Any]
Adapter = Callable[[Any, Json], Any]

_VECTORS = Path(__file__).parent


def tokenize(text: str, _data: Json) -> Json:
    """Give the normal form and both families of tokens."""
    tokens = reference_tokens(text)
    return {
        "normalized": normalise(text),
        "tokens": tokens,
        "wordTokens": [token for token in tokens if token.startswith("word:")],
        "hanTokens": [token for token in tokens if token.startswith("han")],
    }


def fuzzy(case: Json, _data: Json) -> bool:
    """Match a candidate against a requested name."""
    return fuzzy_match(case["candidate"], case["requested"])


def search(case: Json, data: Json) -> Json:
    """Rank a corpus by BM25, by the fusion of one pool, and by that fused once more."""
    corpus = Corpus(data["corpora"][case["corpus"]])
    options = case["options"]
    limit = _clamped(options.get("limit"), default=6, most=20)
    fused = corpus.fused(case["query"], options)
    again = reciprocal_rank_fusion([([ranked.id for ranked in fused], 1.0)])
    offset = options.get("offset", 0)
    lexical = corpus.bm25(case["query"], corpus.visible)
    return {
        "bm25": [{"id": name, "score": score} for name, score in lexical.items()],
        "fused_single_pool": _scored(fused[:limit]),
        "search_0_3": _scored(again[offset : offset + limit]),
    }


def raw_search(case: Json, data: Json) -> list[Json]:
    """Rank the messages of sealed blocks, each with its neighbours."""
    options = case["options"]
    found: dict[str, tuple[Json, int]] = {
        message["id"]: (block, index)
        for block in data["blocks"]
        for index, message in enumerate(block["messages"])
        if _in_thread(message, options)
    }
    texts = {name: block["messages"][index]["content"] for name, (block, index) in found.items()}
    documents = {name: reference_tokens(text) for name, text in texts.items()}
    scores = bm25_scores(reference_tokens(case["query"]), documents)

    def order(name: str) -> tuple[float, datetime, int, int]:
        block, index = found[name]
        return scores[name], _moment(block["messages"][index]), block["sequence"], index

    ranked = sorted(sorted(scores, key=collation_key), key=order, reverse=True)
    return [_raw_hit(*found[name]) for name in ranked[: max(1, case["limit"])]]


def autocontext(case: Json, _data: Json) -> Json:
    """Activate events for a query and render them."""
    corpus = Corpus(_search_vectors()["corpora"][case["corpus"]])
    hits = [ranked.id for ranked in corpus.fused(case["activationQuery"], {})[:EVENT_HITS]]
    if not case["activationQuery"].strip():
        hits = []  # a blank query activates by weight alone
    considered = dict.fromkeys((*hits, *corpus.always_considered()))
    ordered = activation_order(hits, [corpus.candidate(name) for name in considered])
    excluded = frozenset(case["excludeEventIds"])
    others = [candidate for candidate in ordered if candidate.id not in excluded]
    chosen = [c.id for c in chosen_events(others, own_block_ids=())]
    nodes = chosen_nodes(map(_node_line, case["graphNodes"]), event_ids=chosen)
    section = render_activated([corpus.line(name) for name in chosen], nodes)
    return {
        "activatedOrder": [candidate.id for candidate in others],
        "rendered": section.text,
        "estimatedTokens": section.tokens,
    }


class Corpus:
    """The events of one corpus, as the domain's values."""

    def __init__(self, corpus: Json) -> None:
        """Read the cards; `currentTurn` is the clock of their weights."""
        self.cards: dict[str, Json] = {card["id"]: card for card in corpus["events"]}
        self.turn: int = corpus["currentTurn"]
        self.events = {name: self._event(card) for name, card in self.cards.items()}
        self.visible = [n for n, event in self.events.items() if event.status in VISIBLE_STATUSES]

    def fused(self, query: str, options: Json) -> list[RankFused]:
        """Fuse the lexical ranking with the structured one; filters nothing meets are hints."""
        sets = self._filter_sets(options)
        exact = [name for name in self.visible if all(name in found for found in sets)]
        lexical = list(self.bm25(query, self.visible))
        if sets and exact:
            hits = [name for name in lexical if name in exact]
            rankings = [hits, self._structured(exact, options)]
        else:
            rankings = [lexical, *(self._structured(found, options) for found in sets if found)]
        if not any(rankings) and not reference_tokens(query):
            rankings = [self._structured(self.visible, options)]
        return reciprocal_rank_fusion([(ranking, 1.0) for ranking in rankings])

    def bm25(self, query: str, names: Iterable[str]) -> dict[str, float]:
        """Score cards by their weighted fields."""
        documents = {name: weighted_tokens(_fields(self.cards[name])) for name in names}
        return bm25_scores(reference_tokens(query), documents)

    def always_considered(self) -> list[str]:
        """Name the pinned and the safety cards."""
        return [
            name
            for name, card in self.cards.items()
            if is_always_considered(
                status=EventStatus(card["status"]),
                pinned=card["weight"]["pinned"],
                criticality=Criticality(card["criticality"]),
            )
        ]

    def candidate(self, name: str) -> ActivationCandidate:
        """Return a card as a candidate for activation."""
        event = self.events[name]
        block = self.cards[name]["sourceBlockId"]
        return ActivationCandidate(name, block, event.weight, event.updated_at)

    def line(self, name: str) -> EventLine:
        """Return what the section shows of a card."""
        card = self.cards[name]
        temporal = card["temporal"]
        return EventLine(
            id=name,
            title=card["title"],
            summary=card["summary"],
            happened_start=temporal.get("happenedStart"),
            happened_end=temporal.get("happenedEnd"),
            status=temporal.get("status"),
        )

    def _filter_sets(self, options: Json) -> list[list[str]]:
        sets: list[list[str]] = []
        if wanted := options.get("participants"):
            sets.append([n for n in self.visible if names_all(self.events[n].participants, wanted)])
        if kind := options.get("eventType"):
            sets.append([n for n in self.visible if _mentions(self.cards[n], kind)])
        if "happenedFrom" in options or "happenedTo" in options:
            window = Window(
                _instant(options.get("happenedFrom")), _instant(options.get("happenedTo"))
            )
            sets.append([n for n in self.visible if occurred_within(self.events[n].time, window)])
        return sets

    def _structured(self, names: Sequence[str], options: Json) -> list[str]:
        intent = options.get("temporalIntent")
        ordered = structured_order(
            [self.events[name] for name in names],
            intent=TemporalIntent(intent) if intent else None,
        )
        return [event.id for event in ordered]

    def _event(self, card: Json) -> FilterableEvent:
        temporal, weight = card["temporal"], card["weight"]
        return FilterableEvent(
            id=card["id"],
            status=EventStatus(card["status"]),
            event_type=event_type_of(temporal.get("eventType")),
            participants=tuple(temporal.get("participants", ())),
            time=EventTime(
                mentioned_at=_instant(temporal.get("mentionedAt")),
                zone="+08:00",  # the reference writes all its times there
                happened_start=_happened(temporal.get("happenedStart")),
                happened_end=_happened(temporal.get("happenedEnd")),
            ),
            weight=event_weight(
                self.turn - weight["lastAdoptedTurn"],
                weight["mentionCount"],
                criticality=Criticality(card["criticality"]),
                status=EventStatus(card["status"]),
                pinned=weight["pinned"],
            ),
            created_at=datetime.fromisoformat(card["createdAt"]),
            updated_at=datetime.fromisoformat(card["updatedAt"]),
        )


def _fields(card: Json) -> list[tuple[list[str], float]]:
    temporal = card["temporal"]
    times = f"{temporal.get('happenedStart', '')} {temporal.get('happenedEnd', '')}"
    texts = [
        (card["title"], 4),
        (card["summary"], 3),
        (" ".join(card["tags"]), 2),
        (" ".join(card["quotes"]), 2),
        (" ".join(temporal.get("participants", ())), 5),
        (temporal.get("eventType", ""), 5),
        (temporal.get("originalText", ""), 4),
        (times, 4),
    ]
    return [(reference_tokens(text), weight) for text, weight in texts]


def _mentions(card: Json, kind: str) -> bool:
    """Match a requested type as the reference does: by the type, or anywhere in the text."""
    text = " ".join([card["title"], card["summary"], *card["tags"]])
    return any(fuzzy_match(told, kind) for told in (card["temporal"].get("eventType", ""), text))


def _scored(ranking: Iterable[RankFused]) -> list[Json]:
    return [{"id": ranked.id, "score": ranked.score} for ranked in ranking]


def _clamped(value: int | None, *, default: int, most: int) -> int:
    return default if value is None else min(most, max(1, value))


def _in_thread(message: Json, options: Json) -> bool:
    wanted = options.get("threadId")
    own = message.get("threadId")
    return (
        wanted is None or own == wanted or (own is None and bool(options.get("includeUnthreaded")))
    )


def _raw_hit(block: Json, index: int) -> Json:
    messages = block["messages"]
    nearby = messages[max(0, index - 1) : index + 2]
    return {
        "blockId": block["id"],
        "turnRange": block["turnRange"],
        "messageId": messages[index]["id"],
        "nearby": [message["id"] for message in nearby],
    }


def _moment(message: Json) -> datetime:
    return datetime.fromisoformat(message["createdAt"])


def _happened(text: str | None) -> date | datetime | None:
    """Read a written time: a month stands for its first day, as the reference reads it."""
    if not text:
        return None
    if "T" in text:
        return datetime.fromisoformat(text)
    return date.fromisoformat(text if text.count("-") == 2 else f"{text}-01")


def _instant(text: str | None) -> datetime | None:
    read = _happened(text)
    if read is None or isinstance(read, datetime):
        return read
    return datetime(read.year, read.month, read.day, tzinfo=UTC)


def _node_line(node: Json) -> NodeLine:
    return NodeLine(
        id=node["id"],
        name=node["name"],
        type=node["type"],
        aliases=tuple(node.get("aliases", ())),
        tags=tuple(node.get("tags", ())),
        status=node["status"],
        state=node.get("state", ""),
        facts=tuple(node.get("facts", ())),
        relations=tuple(node.get("relations", ())),
        timeline=tuple(node.get("timeline", ())),
        source_event_ids=frozenset(node.get("sourceEventIds", ())),
    )


@cache
def _search_vectors() -> Json:
    vectors: Json = json.loads((_VECTORS / "search.json").read_text("utf-8"))
    return vectors


ADAPTERS: Mapping[str, Adapter] = {
    "tokenize": tokenize,
    "fuzzy_match": fuzzy,
    "search": search,
    "raw_search": raw_search,
    "autocontext": autocontext,
}

OVERRULED: Mapping[tuple[str, str, str], str] = {}
"""Nothing: the word break is the one the vectors were made with (ADR 0004)."""
