"""What two versions of a graph have in common and what not, by meaning: ids differ by nature.

Nodes are the same by type and key, facts by node, key and value, edges by their ends and relation;
what readers see of them is compared, so that records which no view shows make no difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.domain.graph import FactMode, text_key, value_key
from shared.domain.graph_view import EdgeView, FactView, NodeView

NodeKey = tuple[str, str]
Items = dict[Hashable, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: what it is about, and how it stood before and stands after, if at all."""

    subject: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """What is new, what changed and what is gone of one kind of item; `same` counts the rest."""

    added: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    gone: tuple[Change, ...] = ()
    same: int = 0


@dataclass(frozen=True, slots=True)
class GraphDiff:
    """The difference of two versions, kind by kind."""

    nodes: Difference
    facts: Difference
    edges: Difference


@dataclass(slots=True)
class Picture:
    """What readers see of one version, keyed by meaning; filled page by page.

    `keys` names every node of the version by its id: an edge may lead to a node of another page.
    """

    keys: Mapping[str, NodeKey]
    nodes: Items = field(default_factory=dict)
    facts: dict[Hashable, list[_Shown]] = field(default_factory=lambda: defaultdict(list))
    edges: dict[Hashable, list[_Shown]] = field(default_factory=lambda: defaultdict(list))

    def take(self, views: Iterable[NodeView]) -> None:
        """Add nodes with their facts and the edges that leave them."""
        for view in views:
            own = self.keys[view.id]
            self.nodes[own] = _Shown(_node_words(view), (view.name, view.status.value))
            for is_current, found in ((True, view.current_facts), (False, view.historical_facts)):
                for fact in found:
                    key = (own, fact.mode.value, text_key(fact.key), value_key(fact.value))
                    self.facts[key].append(_shown_fact(fact, is_current))
            for is_current, edges in ((True, view.current_edges), (False, view.historical_edges)):
                for edge in edges:
                    if edge.from_node_id == view.id:
                        far = self.keys.get(edge.to_node_id, ("", edge.to_node_id))
                        way = (own, text_key(edge.relation), far)
                        self.edges[way].append(_shown_edge(edge, is_current))


@dataclass(frozen=True, slots=True, order=True)
class _Shown:
    """How an item stands, in words, and what of it makes a difference."""

    words: str
    standing: tuple[str, ...]


def diff_graphs(before: Picture, after: Picture) -> GraphDiff:
    """Return what changes for readers when `after` takes the place of `before`."""
    return GraphDiff(
        nodes=_compare(
            {key: (shown,) for key, shown in before.nodes.items()},
            {key: (shown,) for key, shown in after.nodes.items()},
            subject=lambda key: f"{key[0]} {key[1]}",
        ),
        facts=_paired(
            _compare(
                _sorted(before.facts),
                _sorted(after.facts),
                subject=lambda key: f"{key[0][0]} {key[0][1]}: {key[2]}",
            ),
            _single_valued(before, after),
        ),
        edges=_compare(
            _sorted(before.edges),
            _sorted(after.edges),
            subject=lambda key: f"{key[0][0]} {key[0][1]} {key[1]} {key[2][0]} {key[2][1]}",
        ),
    )


def _compare(before: Mapping[Any, Any], after: Mapping[Any, Any], *, subject: Any) -> Difference:
    added = [Change(subject(key), None, _words(after[key])) for key in after if key not in before]
    gone = [Change(subject(key), _words(before[key]), None) for key in before if key not in after]
    changed = [
        Change(subject(key), _words(before[key]), _words(after[key]))
        for key in before
        if key in after and before[key] != after[key]
    ]
    same = sum(1 for key in before if key in after and before[key] == after[key])
    return Difference(_ordered(added), _ordered(changed), _ordered(gone), same)


def _paired(found: Difference, single: set[str]) -> Difference:
    """Tell a new value of a single-valued key as a change, not as one gone and one added."""
    gone: dict[str, list[Change]] = defaultdict(list)
    for one in found.gone:
        gone[one.subject].append(one)
    added: list[Change] = []
    changed = list(found.changed)
    for one in found.added:
        if one.subject in single and gone[one.subject]:
            former = gone[one.subject].pop(0)
            changed.append(Change(one.subject, former.before, one.after))
        else:
            added.append(one)
    left = [one for rest in gone.values() for one in rest]
    return Difference(_ordered(added), _ordered(changed), _ordered(left), found.same)


def _single_valued(before: Picture, after: Picture) -> set[str]:
    return {
        f"{key[0][0]} {key[0][1]}: {key[2]}"
        for picture in (before, after)
        for key in picture.facts
        if isinstance(key, tuple) and key[1] != FactMode.SET.value
    }


def _sorted(items: Mapping[Hashable, list[_Shown]]) -> dict[Hashable, tuple[_Shown, ...]]:
    return {key: tuple(sorted(shown)) for key, shown in items.items()}


def _words(shown: Iterable[_Shown]) -> str:
    return "; ".join(one.words for one in shown)


def _ordered(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda one: (one.subject, one.before or "", one.after or "")))


def _node_words(view: NodeView) -> str:
    parts = [view.name, *sorted(f"alias {one}" for one in view.aliases)]
    parts += sorted(f"tag {one}" for one in view.tags)
    return ", ".join([*parts, view.status.value])


def _shown_fact(fact: FactView, is_current: bool) -> _Shown:
    value = fact.value if isinstance(fact.value, str) else ", ".join(fact.value)
    return _Shown(f"{value}{_since(fact, is_current)}", _standing(fact, is_current))


def _shown_edge(edge: EdgeView, is_current: bool) -> _Shown:
    return _Shown(_since(edge, is_current).strip(), _standing(edge, is_current))


def _standing(record: FactView | EdgeView, is_current: bool) -> tuple[str, ...]:
    return (
        "current" if is_current else "former",
        record.status.value,
        str(record.valid_from),
        str(record.valid_until),
        "planned" if record.is_planned else "",
    )


def _since(record: FactView | EdgeView, is_current: bool) -> str:
    begin = "" if record.valid_from is None else record.valid_from.date().isoformat()
    end = "" if record.valid_until is None else record.valid_until.date().isoformat()
    told = [record.status.value] if is_current else ["former", record.status.value]
    if begin or end:
        told.append(f"{begin}..{end}")
    return f" ({', '.join(told)})"
