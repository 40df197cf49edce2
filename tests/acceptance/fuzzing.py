"""Requests made from the API's document, by two tenants, with ids that earlier answers gave.

Schemathesis makes each request, valid or broken; what makes a run one story is here: ids and
names go from answers into the paths, queries and bodies of later requests, of either tenant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.transport.requests import REQUESTS_TRANSPORT

from shared.ids import Prefix
from tests.acceptance.route_examples import PREFIXES

_ID = re.compile(r"\b([a-z]{3,4}_[0-9a-f]{32})\b")
_CURSOR = re.compile(r'"next_cursor":"([A-Za-z0-9_-]+)"')
_KEPT = 40
_CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
_OF_FIELDS = {
    "event_id": Prefix.EVENT,
    "turn_id": Prefix.TURN,
    "batch_id": Prefix.BATCH,
    "node_id": Prefix.NODE,
    "element_id": Prefix.NODE,
    "block_id": Prefix.BLOCK,
}
_NAMESPACES = ("project:shared", "project:theirs", "project:fuzzed")
_THREADS = ("theirs", "unthreaded", "fuzzed")


@REQUESTS_TRANSPORT.serializer("application/gzip", "application/x-ndjson")
def _as_it_is(_context: Any, value: Any) -> dict[str, Any]:
    return {"data": value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")}


@dataclass(frozen=True, slots=True)
class Choice:
    """How one request departs from what the document alone would make."""

    tenant: int
    number: int
    takes_known: bool


CHOICES = st.builds(Choice, st.integers(0, 1), st.integers(0, 10_000), st.booleans())


@dataclass
class Story:
    """Two tenants' keys, and what answers have told so far.

    `words`: what each of the two alone has said. `spared`: ids that nobody asks for.
    """

    url: str
    keys: tuple[str, str]
    words: tuple[str, str]
    spared: frozenset[str]
    known: dict[str, list[str]] = field(default_factory=dict)
    asked: int = 0
    statuses: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.session = requests.Session()

    def learn(self, text: str) -> None:
        """Keep the ids and cursors of an answer."""
        found = [(one.partition("_")[0], one) for one in _ID.findall(text)]
        found += [("cursor", one) for one in _CURSOR.findall(text)]
        for kind, one in found:
            kept = self.known.setdefault(kind, [])
            if one not in self.spared and one not in kept:
                kept.append(one)
                del kept[:-_KEPT]

    def ask(self, case: schemathesis.Case[Any], choice: Choice) -> None:
        """Send a request as one of the tenants and hold its answer to the document."""
        if choice.takes_known:
            self._put_known(case, choice.number)
        headers = {"Authorization": f"Bearer {self.keys[choice.tenant]}"}
        answer = case.call(base_url=self.url, session=self.session, headers=headers)
        self.asked += 1
        self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1
        case.validate_response(answer, checks=_CHECKS)
        text = answer.content.decode("utf-8", "replace")
        assert self.words[1 - choice.tenant] not in text, "what another tenant said"
        self.learn(text)
        if answer.status_code >= 400 and answer.status_code != 405:
            assert answer.json()["request_id"] == answer.headers["x-request-id"][0]

    def _put_known(self, case: schemathesis.Case[Any], number: int) -> None:
        for name in list(case.path_parameters or {}):
            value = self._known(name, number)
            if value is not None:
                case.path_parameters[name] = value
        for part in (case.query, case.body):
            if isinstance(part, dict):
                self._put_into(part, number)

    def _put_into(self, part: dict[str, Any], number: int) -> None:
        for name, value in list(part.items()):
            if isinstance(value, dict):
                self._put_into(value, number)
            elif value is not None and (known := self._known(name, number)) is not None:
                part[name] = known

    def _known(self, name: str, number: int) -> str | None:
        if name in ("ns", "namespace"):
            return _NAMESPACES[number % len(_NAMESPACES)]
        if name in ("thread", "thread_id"):
            return _THREADS[number % len(_THREADS)]
        kind: str | None = PREFIXES.get(name) or _OF_FIELDS.get(name)
        if name == "cursor":
            kind = "cursor"
        known = self.known.get(kind or "", [])
        return known[number % len(known)] if known else None


def document_of(raw: Mapping[str, Any]) -> Any:
    """Return the document as schemathesis takes it."""
    schema = schemathesis.openapi.from_dict(dict(raw))
    # Whose key a request has is the story's to choose.
    schema.config.generation.update(with_security_parameters=False)
    return schema


def operations_of(schema: Any) -> Iterator[Any]:
    """Yield the operations: what makes things first, what removes them last."""
    order = {"POST": 0, "PUT": 1, "PATCH": 2, "GET": 3, "DELETE": 4}
    found = [result.ok() for result in schema.get_all_operations()]
    yield from sorted(
        found,
        key=lambda one: (
            order[one.method.upper()] + 3 * one.path.endswith(("/erasures", "/drop", "/undo")),
            one.path,
        ),
    )


def cases_of(operation: Any) -> st.SearchStrategy[schemathesis.Case[Any]]:
    """Return requests of an operation, as the document has them and broken."""
    return st.one_of(
        operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
        operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
    )
