"""Another tenant's ids and namespaces: on every route the answer for what never existed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from shared.ids import new_id
from tests.acceptance.filled import ONLY_THEIRS, SHARED, Names, filled_memory
from tests.acceptance.memory import Json, Memory, checked
from tests.acceptance.route_examples import (
    EXAMPLES,
    NAMES_NOTHING,
    NAMESPACE,
    PREFIXES,
    THREAD,
    Example,
    filled,
)
from tests.support.stack import RunningSystem

NOBODYS = "project:nobodys"
RIGHTLY_REFUSED = '"code":"illegal_target"'
"""An event of the tenant's own that resembles no candidate of the import."""


@dataclass(frozen=True, slots=True)
class Request:
    """One example of one route."""

    route: str
    example: Example

    @property
    def path(self) -> str:
        return self.route.split(" ")[1]

    @property
    def takes_id(self) -> bool:
        """Whether an id is asked for: in the path, or where the path names a tool in the body."""
        if not self.example.chosen:
            return bool(set(re.findall(r"{(\w+)}", self.path)) - {NAMESPACE})
        return bool(set(re.findall(r"{(\w+)}", str(self.example.body))) & PREFIXES.keys())

    def send(self, client: httpx.Client, names: Names) -> httpx.Response:
        method = self.route.split(" ")[0]
        names = names | self.example.chosen
        return client.request(
            method,
            filled(self.path, names),
            json=None if self.example.file else filled(self.example.body, names),
            content=self.example.file,
            params=filled(self.example.query, names),
        )


def test_every_route_that_takes_an_id_or_a_namespace_has_an_example(
    system: RunningSystem,
) -> None:
    routes, addressed = routes_of(system)
    assert set(EXAMPLES) & set(NAMES_NOTHING) == set()
    assert routes == set(EXAMPLES) | set(NAMES_NOTHING), "keep route_examples.py whole"
    assert addressed <= set(EXAMPLES), "these take an id or a namespace"


def test_what_is_another_tenants_answers_as_if_it_never_existed_and_stays_as_it_is(
    system: RunningSystem,
) -> None:
    theirs = Memory(system, system.new_tenant("theirs"), SHARED)
    names = filled_memory(theirs)
    mine = Memory(system, system.new_tenant("mine"), SHARED)
    mine.turn("mine", "The archive is in Bergen.", thread_id="mine")
    before = rows_of(system, theirs.tenant.tenant_id)

    wrong = [
        f"{request.route} ({what}): {problem}"
        for request in requests()
        for what, asked, unknown in pairs(request, names)
        if (problem := difference(request, mine.http, asked, unknown))
    ]

    assert wrong == []
    assert rows_of(system, theirs.tenant.tenant_id) == before
    # The same requests by their owner: the ids were real, so that the answers mean something.
    owned = [
        (request.route, request.send(theirs.http, here))
        for here in [names | {NAMESPACE: SHARED}]
        for request in sorted(requests(), key=lambda request: request.route.startswith("DELETE"))
    ]
    refused = [
        (route, answer.text)
        for route, answer in owned
        if answer.status_code in (401, 403, 404, 422)
    ]
    assert [one for one in refused if RIGHTLY_REFUSED not in one[1]] == []


def requests() -> list[Request]:
    """Every example; those that begin a namespace last, or the others would find it begun."""
    every = [
        Request(route, example) for route, examples in EXAMPLES.items() for example in examples
    ]
    return sorted(every, key=lambda request: request.example.begins)


def pairs(request: Request, names: Names) -> Iterator[tuple[str, Names, Names]]:
    """What to ask for: something of theirs, and beside it the same that nobody ever had."""
    nobody = {name: new_id(prefix) for name, prefix in PREFIXES.items()} | {THREAD: "nobodys"}
    if request.takes_id:
        yield "namespace of both", names | {NAMESPACE: SHARED}, nobody | {NAMESPACE: SHARED}
    yield "their namespace", names | {NAMESPACE: ONLY_THEIRS}, nobody | {NAMESPACE: NOBODYS}


def difference(request: Request, client: httpx.Client, asked: Names, unknown: Names) -> str | None:
    """Say how the answer tells that something is there; None when it tells nothing."""
    got, expected = request.send(client, asked), request.send(client, unknown)
    if request.example.begins:
        return None if got.is_success and expected.is_success else f"not begun: {got.text}"
    if got.status_code != expected.status_code or told(got) != told(expected):
        return f"{got.status_code} {told(got)} is not {expected.status_code} {told(expected)}"
    if got.status_code == httpx.codes.NOT_FOUND:
        return None
    is_empty = got.is_success and told(got).get("items") == []
    return None if is_empty else f"answered {got.status_code} {told(got)}"


def told(response: httpx.Response) -> Json:
    body: Json = response.json()
    return {name: value for name, value in body.items() if name != "request_id"}


def routes_of(system: RunningSystem) -> tuple[set[str], set[str]]:
    """Every route of the published document, and those that take an id or a namespace."""
    document = checked(httpx.get(f"{system.url}/openapi.json", timeout=60), 200)
    every: set[str] = set()
    addressed: set[str] = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            route = f"{method.upper()} {path}"
            every.add(route)
            asked = {parameter["name"] for parameter in operation.get("parameters", [])}
            named = {"namespace"} & (asked | body_fields(document, operation))
            if re.search(r"{\w+}", path) or named or any(one.endswith("_id") for one in asked):
                addressed.add(route)
    return every, addressed


def body_fields(document: Json, operation: Json) -> set[str]:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").removeprefix("#/components/schemas/")
    return set(document["components"]["schemas"].get(name, schema).get("properties", {}))


def rows_of(system: RunningSystem, tenant_id: str) -> dict[str, object]:
    """Every row that belongs to a tenant, as one digest a table."""
    tables = system.sql(
        "SELECT table_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND column_name = 'tenant_id'"
    )
    return {
        table: system.sql(
            f"SELECT count(*) AS n, md5(string_agg(r::text, '|' ORDER BY r::text)) AS digest"  # noqa: S608 - names of our own schema
            f' FROM "{table}" AS r WHERE tenant_id = %s',
            tenant_id,
        )
        for table in sorted(row["table_name"] for row in tables)
    }
