"""How a bundle is checked, record by record, and how its ids are changed.

A bundle is closed: whatever a record names is a record of the bundle too, written before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from shared.domain.bundle_kinds import KIND_OF, KINDS, Kind

FORMAT: Final = "stratagate.bundle"
VERSION: Final = 1
FIRST: Final = "bundle"
LAST: Final = "end"
_ID: Final = re.compile(r"([a-z]{3})_[0-9a-f]{32}")
_ID_IN_TEXT: Final = re.compile(r"[a-z]{3}_[0-9a-f]{32}")
_LONGEST_TEXT: Final = 4_000_000
_WHOLE: Final = range(-(2**63), 2**63)

_NEEDING: Final = frozenset({"trn", "blk", "evt"})
_NEEDED_BY: Final = {"message": "turn_id", "state": "block_id", "event_source": "event_id"}
"""A turn has a message, a block a state, an event a source: by what tells of it."""


class BadBundle(ValueError):
    """A bundle breaks a rule; the message says which, with the number of its line."""


class BundleCheck:
    """Checks records one by one, in order, and at the end what only the whole tells."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.threads: set[str] = set()
        self._later: set[str] = set()
        self._bare: set[str] = set()
        self._rank = 0

    def record(self, name: object, values: Mapping[str, Any]) -> Kind:
        """Check one record and return its kind. Raises BadBundle."""
        kind = KIND_OF.get(name) if isinstance(name, str) else None
        if kind is None:
            raise BadBundle("there is no such kind of record")
        rank = KINDS.index(kind)
        if rank < self._rank:
            raise BadBundle(f"'{kind.name}' stands behind what names it")
        self._rank = rank
        if values.keys() != kind.fields.keys():
            odd = sorted(values.keys() ^ kind.fields.keys())
            raise BadBundle(
                f"'{kind.name}' has other fields than it should: {', '.join(odd)[:200]}"
            )
        for column, type_ in kind.fields.items():
            self._value(f"{kind.name}.{column}", type_, values[column])
        if kind.name in _NEEDED_BY:
            self._bare.discard(values[_NEEDED_BY[kind.name]])
        return kind

    def whole(self) -> None:
        """Check what was named before it came."""
        if missing := self._later - self.ids.keys():
            raise BadBundle(f"{len(missing)} named event(s) are not in the bundle")
        if self._bare:
            raise BadBundle(f"{len(self._bare)} record(s) lack what each of their kind has")

    def _value(self, where: str, type_: str, value: Any) -> None:
        if type_.endswith("?"):
            if value is None:
                return
            type_ = type_[:-1]
        word, _, prefix = type_.partition(" ")
        if word == "id":
            self._own(where, prefix, value)
        elif word == "ref":
            self._known(where, prefix, value)
        elif word == "refs":
            if not isinstance(value, list):
                raise BadBundle(f"{where} is no list")
            for one in value:
                self._known(where, prefix, one)
        elif word == "later":
            if not _is_id(value, prefix):
                raise BadBundle(f"{where} is no id of that kind")
            self._later.add(value)
        elif word == "thread":
            if value not in self.threads:
                raise BadBundle(f"{where} names a thread that is not in the bundle")
        elif word == "name":
            _check_plain(where, "text", value)
            self.threads.add(value)
        elif word == "quotes":
            self._quotes(where, value)
        else:
            _check_plain(where, prefix if word == "ids" else word, value)

    def _own(self, where: str, prefix: str, value: Any) -> None:
        if not _is_id(value, prefix):
            raise BadBundle(f"{where} is no id of that kind")
        if value in self.ids:
            raise BadBundle(f"{where} occurs twice")
        self.ids[value] = value
        if prefix in _NEEDING:
            self._bare.add(value)

    def _known(self, where: str, prefix: str, value: Any) -> None:
        if not _is_id(value, prefix) or value not in self.ids:
            raise BadBundle(f"{where} names nothing that stands before it in the bundle")

    def _quotes(self, where: str, value: Any) -> None:
        if not isinstance(value, list):
            raise BadBundle(f"{where} is no list")
        for quote in value:
            if not isinstance(quote, dict) or quote.keys() != {"message_id", "text"}:
                raise BadBundle(f"{where} holds no quotes")
            self._known(where, "msg", quote["message_id"])
            _check_plain(where, "text", quote["text"])


def with_ids(kind: Kind, values: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    """Return a checked record with the ids that it gets; words of people stay as they are."""
    return {
        column: _renamed(values[column], ids) if _holds_ids(type_) else values[column]
        for column, type_ in kind.fields.items()
    }


def _holds_ids(type_: str) -> bool:
    return type_.partition(" ")[0] in {"id", "ref", "refs", "later", "ids"} or type_ == "quotes"


def _renamed(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _ID_IN_TEXT.sub(lambda found: ids.get(found.group(), found.group()), value)
    if isinstance(value, list):
        return [_renamed(item, ids) for item in value]
    if isinstance(value, dict):
        # The words of a quote are somebody's, whatever they look like.
        return {key: item if key == "text" else _renamed(item, ids) for key, item in value.items()}
    return value


def _is_id(value: Any, prefix: str) -> bool:
    match = _ID.fullmatch(value) if isinstance(value, str) else None
    return match is not None and match.group(1) == prefix


def _check_plain(where: str, type_: str, value: Any) -> None:
    if not _is_plain(type_, value):
        raise BadBundle(f"{where} is no {type_}")


def _is_plain(type_: str, value: Any) -> bool:
    match type_:
        case "text":
            return isinstance(value, str) and len(value) <= _LONGEST_TEXT and "\0" not in value
        case "texts":
            return isinstance(value, list) and all(_is_plain("text", one) for one in value)
        case "int":
            return type(value) is int and value in _WHOLE
        case "number":
            return type(value) in (int, float)
        case "bool":
            return isinstance(value, bool)
        case "time":
            return _is_time(value)
        case "json":
            return not isinstance(value, str) or _is_plain("text", value)
    return False


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
