"""Another tenant's ids and namespaces: on every route the answer for what never existed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from shared.ids import new_id
from tests.acceptance.memory import Json, Memory, checked
from tests.acceptance.route_examples import (
    EXAMPLES,
    NAMESPACE,
    PREFIXES,
    THREAD,
    Example,
    filled,
)
from tests.support.stack import RunningSystem

SHARED, ONLY_THEIRS, NOBODYS = "project:shared", "project:theirs", "project:nobodys"
Names = dict[str, str]


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
    routes = addressed_routes(system)
    assert routes - set(EXAMPLES) == set(), "give these an example in route_examples.py"
    assert set(EXAMPLES) - routes == set(), "these routes are gone"


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
        (request.route, request.example.chosen, request.send(theirs.http, here).status_code)
        for here in [names | {NAMESPACE: SHARED}]
        for request in sorted(requests(), key=lambda request: request.route.startswith("DELETE"))
    ]
    assert [one for one in owned if one[-1] in (401, 403, 404, 422)] == []


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


def filled_memory(memory: Memory) -> Names:
    """Walk some turns through both namespaces of a tenant; return an id of every kind."""
    for namespace in (ONLY_THEIRS, SHARED):
        home = Memory(memory.system, memory.tenant, namespace)
        home.begin(block_turn_size=2)
        home.turn("first", "We decided to use pnpm in Orion.", thread_id="theirs")
        last = home.turn("last", "Mara leads the design of Orion.", thread_id="theirs")
        home.settled_jobs()
        # Open again, so that there is something to seal.
        home.turn("open", "The spare key is under the flowerpot.", thread_id="theirs")
    found = memory.search_events("pnpm Orion", thread_id="theirs")
    nodes = memory.search_graph("Mara")
    versions = memory.get(f"{memory.written}/graph-versions")
    key = memory.post("/v1/keys", {"label": "to be revoked", "permissions": ["read"]})
    selector = {"selector": {"label": "nobody=here"}}
    erasure = memory.post(f"{memory.written}/erasures", selector, expect=202)
    memory.settled_jobs()
    bundle = memory.post(f"{memory.written}/exports", expect=202)
    export = '{"candidates": [{"title": "Likes tea", "summary": "Likes tea."}]}'
    begun = memory.post(f"{memory.written}/imports", {"text": export}, expect=202)
    memory.settled_jobs()
    memory.assess(
        found["batch_id"], "sufficient", [found["items"][0]["evidence_ref"]], strategy="answer"
    )
    return {
        THREAD: "theirs",
        "trn": last["turn_id"],
        "blk": last["sealed_block_ids"][0],
        "evt": found["items"][0]["event_id"],
        "nod": nodes["items"][0]["node_id"],
        "bat": found["batch_id"],
        "era": erasure["erasure_id"],
        "exp": bundle["export_id"],
        "imp": begun["import_id"],
        "job": memory.jobs()[0]["job_id"],
        "key_id": key["key_id"],
        "gvn": versions["items"][0]["graph_version_id"],
        "cfl": contradiction(memory),
    }


def contradiction(memory: Memory) -> str:
    """Let two events of the memory contradict each other; return the conflict's id."""
    one, other = (card["event_id"] for card in memory.get(f"{memory.read}/events")["items"][:2])
    memory.system.sql(
        "INSERT INTO event_links (tenant_id, event_id, kind, other_event_id)"
        " SELECT %s, pair[1], 'conflicts_with', pair[2] FROM"
        " (VALUES (%s::text[]), (%s::text[])) AS p (pair) RETURNING event_id",
        memory.tenant.tenant_id,
        [one, other],
        [other, one],
    )
    found = memory.get(f"{memory.written}/curation/conflicts")["items"]
    return str(found[0]["conflict_id"])


def addressed_routes(system: RunningSystem) -> set[str]:
    """The routes of the published document that take an id or a namespace, wherever."""
    document = checked(httpx.get(f"{system.url}/openapi.json"), 200)
    found: set[str] = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            asked = {parameter["name"] for parameter in operation.get("parameters", [])}
            in_path = {*re.findall(r"{(\w+)}", path)}
            if in_path or asked & {"namespace"} or "namespace" in body_fields(document, operation):
                found.add(f"{method.upper()} {path}")
    return found


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
