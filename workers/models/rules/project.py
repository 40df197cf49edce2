"""The graph that events speak of, by rule: who and what is named, and plain relations of them.

A plan is entered as a plan, a cancelled one as cancelled; nothing planned becomes a done fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from shared.domain.graph import NodeType
from workers.models.inputs import ProjectEvent, ProjectInput
from workers.models.rules import relations_en, relations_zh
from workers.models.rules.entities import is_tool_key, kind_of_name, kind_of_thing, subject_name
from workers.models.rules.graph_book import USER, Book, Entry, Fact
from workers.models.rules.naming import names_in, title_of
from workers.models.rules.people import people_in
from workers.models.rules.relations_en import Reading
from workers.models.rules.sentences import MAX_SENTENCE, is_chinese

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])\s*")
_IMAGE: Final = re.compile(r"\[image:[^\]]*\]")
_VERSION: Final = re.compile(r"\s\d+(?:\.\d+)*$")
_VALUE: Final = 160
_DEEDS: Final[Mapping[str, str]] = {
    "task_completed": "done",
    "release": "done",
    "incident": "incidents",
    "cancellation": "cancelled",
}


def project(material: ProjectInput) -> Mapping[str, object]:
    """Return the projector's reply on the events of one job."""
    book = Book({event.event_id: event for event in material.events}, material.nodes)
    for event in material.events:
        _enter_names(book, event)
    for event in material.events:
        _enter_relations(book, event)
        _enter_deeds(book, event)
    reply = book.reply()
    reason = f"{len(reply['nodes'])} nodes and {len(reply['edges'])} edges by rule"
    return {"reason": reason, **reply}


def _sentences(event: ProjectEvent) -> list[str]:
    text = _IMAGE.sub("", event.summary)
    parts = (part.strip()[:MAX_SENTENCE] for part in _SENTENCE.split(text))
    return [part for part in parts if part]


def _enter_names(book: Book, event: ProjectEvent) -> None:
    """Enter everyone who takes part, and every name whose words tell what it is."""
    for name in event.participants:
        book.node(name, NodeType.PERSON, event.event_id)
    text = f"{event.title}. {event.summary}"
    people = set(people_in(text, event.participants))
    for named in names_in(event.summary, event.participants):
        base = _VERSION.sub("", named)
        # "Orion 1.0" is a state of Orion, where Orion is known, and no second thing.
        name = base if book.known_type(base) is not None else named
        if name in event.participants or name == USER:
            continue
        kind = NodeType.PERSON if name in people else kind_of_name(name, text, book)
        if kind is not None:
            book.node(name, kind, event.event_id)


def _enter_relations(book: Book, event: ProjectEvent) -> None:
    for sentence in _sentences(event):
        reader = relations_zh if is_chinese(sentence) else relations_en
        for reading in reader.readings_of(sentence):
            enter = _ENTRIES.get(reading.name)
            if enter is not None:
                enter(book, event, reading)


def _enter_deeds(book: Book, event: ProjectEvent) -> None:
    """Note plans, results and incidents with the one who tells them, else with their project."""
    key = "plans" if event.time.status == "planned" else _DEEDS.get(event.event_type)
    if key is None:
        return
    value = title_of(event.title, _VALUE)
    owner = _teller(book, event)
    if owner is not None:
        book.fact(owner, Fact(key, value, "set"), event.event_id)


def _teller(book: Book, event: ProjectEvent) -> Entry | None:
    projects = [
        entry
        for entry in book.entries.values()
        if entry.type is NodeType.PROJECT and event.event_id in entry.sources
    ]
    if projects:
        return projects[0]
    name = next(iter(event.participants), None)
    return book.node(name, NodeType.PERSON, event.event_id) if name else None


def _owner(book: Book, event: ProjectEvent, text: str) -> Entry | None:
    """Return the node of a subject: the user, a person or a name of known kind."""
    name = subject_name(text, event.participants)
    if name is None:
        return None
    if name == USER or name in event.participants:
        return book.node(name, NodeType.PERSON, event.event_id)
    whole = f"{event.title}. {event.summary}"
    kind = book.known_type(name) or kind_of_name(name, whole, book)
    return (
        book.node(name, kind or NodeType.PERSON, event.event_id)
        if kind or _acts(name, whole)
        else None
    )


def _acts(name: str, text: str) -> bool:
    return name in people_in(text, (name,))


def _works_at(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    if owner is not None:
        place = book.node(reading.value, NodeType.ORGANIZATION, event.event_id)
        book.edge(owner, "works_at", place, event.event_id, cardinality="one")
        book.fact(owner, Fact("employer", reading.value, "state"), event.event_id)


def _lives_in(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    if owner is not None and owner.type is NodeType.PERSON:
        place = book.node(reading.value, NodeType.PLACE, event.event_id)
        book.edge(owner, "lives_in", place, event.event_id, cardinality="one")
        book.fact(owner, Fact("home", reading.value, "state"), event.event_id)


def _visited(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    if owner is not None and event.time.status != "planned":
        place = book.node(reading.value, NodeType.PLACE, event.event_id)
        book.edge(owner, "visited", place, event.event_id)


def _member_of(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    group = re.sub(r"(?:\s+[Tt]eam|团队|项目)$", "", reading.value)
    if owner is not None:
        kind = book.known_type(group) or kind_of_name(group, event.summary, book)
        node = book.node(group, kind or NodeType.ORGANIZATION, event.event_id)
        book.edge(owner, "member_of", node, event.event_id)


def _role(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    if owner is not None:
        verb = {"leads": "leads", "takes_over": "takes over"}[reading.name]
        value = reading.value if is_chinese(reading.value) else f"{verb} {reading.value}"
        book.fact(owner, Fact("role", value, "set"), event.event_id)


def _uses(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    if owner is not None and event.time.status != "planned":
        tool = book.node(reading.value, NodeType.TOOL, event.event_id)
        book.edge(owner, "uses", tool, event.event_id)
        if reading.key:
            book.fact(owner, Fact(reading.key, reading.value, "state"), event.event_id)


def _switched(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    if owner is None or event.time.status == "planned":
        return
    tool = book.node(reading.value, NodeType.TOOL, event.event_id)
    book.node(reading.old, NodeType.TOOL, event.event_id)
    book.edge(owner, "uses", tool, event.event_id)
    key = book.key_holding(owner.name, reading.old) or "uses"
    book.fact(owner, Fact(key, reading.value, "state"), event.event_id)


def _property(book: Book, event: ProjectEvent, reading: Reading) -> None:
    kind = book.known_type(reading.subject) or kind_of_name(reading.subject, event.summary, book)
    owner = _owner(book, event, reading.subject)
    if owner is None and kind is None and not reading.subject.isascii():
        kind = kind_of_thing(reading.subject)
    if owner is None:
        owner = book.node(reading.subject, kind or NodeType.PROJECT, event.event_id)
    book.fact(owner, Fact(reading.key, reading.value, "state"), event.event_id)
    if is_tool_key(reading.key):
        tool = book.node(reading.value, NodeType.TOOL, event.event_id)
        book.edge(owner, "uses", tool, event.event_id)


def _called(book: Book, event: ProjectEvent, reading: Reading) -> None:
    kind = book.known_type(reading.value) or kind_of_thing(reading.key)
    node = book.node(reading.value, kind, event.event_id)
    book.fact(node, Fact("kind", reading.key, "state"), event.event_id)


def _located(book: Book, event: ProjectEvent, reading: Reading) -> None:
    thing = _plain(reading.subject)
    node = book.node(thing, kind_of_thing(thing), event.event_id)
    key = "位置" if is_chinese(thing) else "location"
    value = reading.value if is_chinese(thing) else re.sub(r"^(?:in|at)\s", "", reading.value)
    book.fact(node, Fact(key, value, "state"), event.event_id)


def _has(book: Book, event: ProjectEvent, reading: Reading) -> None:
    thing = _plain(reading.subject)
    value = re.sub(r"^an?\s", "", reading.value)
    node = book.node(thing, kind_of_thing(thing), event.event_id)
    book.fact(node, Fact(value.split()[-1], value, "state"), event.event_id)


def _trait(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    if owner is None:
        return
    key = {"allergy": "allergies", "diet": "diet", "likes": "preferences"}[reading.name]
    value = f"{reading.key} {reading.value}".strip() if reading.name == "likes" else reading.value
    if is_chinese(value):
        value = value.replace(" ", "")
    book.fact(owner, Fact(key, value[:_VALUE], "set"), event.event_id)


def _rule(book: Book, event: ProjectEvent, reading: Reading) -> None:
    name = next(iter(event.participants), USER)
    owner = book.node(name, NodeType.PERSON, event.event_id)
    book.fact(owner, Fact("rules", reading.value[:_VALUE], "set"), event.event_id)


def _kin(book: Book, event: ProjectEvent, reading: Reading) -> None:
    owner = _owner(book, event, reading.subject)
    if owner is not None and reading.key not in ("dog", "cat"):
        person = book.node(reading.value, NodeType.PERSON, event.event_id)
        relation = f"{reading.key}_of" if reading.key.isascii() else reading.key
        book.edge(person, relation, owner, event.event_id)
    elif owner is not None:
        book.fact(owner, Fact("pets", f"{reading.key} {reading.value}", "set"), event.event_id)


def _plain(subject: str) -> str:
    return re.sub(r"^(?:the user's|the|our)\s+", "", subject.strip(), flags=re.IGNORECASE)


_ENTRIES: Final[Mapping[str, Callable[[Book, ProjectEvent, Reading], None]]] = {
    "works_at": _works_at,
    "lives_in": _lives_in,
    "visited": _visited,
    "member_of": _member_of,
    "leads": _role,
    "takes_over": _role,
    "uses": _uses,
    "uses_as": _uses,
    "switched": _switched,
    "property": _property,
    "called": _called,
    "located": _located,
    "has": _has,
    "allergy": _trait,
    "diet": _trait,
    "likes": _trait,
    "rule": _rule,
    "kin": _kin,
}
