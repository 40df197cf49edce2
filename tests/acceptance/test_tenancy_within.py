"""Another tenant's ids and cursors put into requests about one's own: as if they never existed."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from shared.http.paging import encode_cursor
from shared.ids import new_id
from tests.acceptance.filled import SHARED, Names, filled_memory
from tests.acceptance.memory import Json, Memory, checked
from tests.acceptance.route_examples import EXAMPLES, NAMESPACE, PREFIXES, filled
from tests.acceptance.test_tenancy import Request, rows_of
from tests.integration.tools.agent import over_mcp
from tests.support.stack import RunningSystem

_ID = re.compile(r"[a-z]{3,4}_[0-9a-f]{32}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)")
AUDIT = "/v1/audit-log"
"""It tells a tenant which ids its own keys asked for in vain, whosever they are."""
Tenants = tuple[Memory, Names, Memory, Names]


@pytest.fixture(scope="module")
def tenants(session_system: RunningSystem) -> Tenants:
    """Two tenants with the same names for everything, each with one of everything."""
    found: list[Any] = []
    for name in ("theirs", "mine"):
        memory = Memory(session_system, session_system.new_tenant(name), SHARED)
        found += [memory, filled_memory(memory) | {NAMESPACE: SHARED}]
    theirs, their_names, mine, my_names = found
    return theirs, their_names, mine, my_names


def test_their_ids_inside_requests_about_ones_own_tell_and_change_nothing(
    system: RunningSystem, tenants: Tenants
) -> None:
    theirs, their_names, mine, my_names = tenants
    nobody = {name: new_id(prefix) for name, prefix in PREFIXES.items()}
    before = rows_of(system, theirs.tenant.tenant_id)
    asked, wrong = 0, []
    for request in inside():
        answers = [
            sent(request, mine.http, my_names, my_names | kept_apart(names))
            for names in (their_names, nobody)
        ]
        asked += 1
        if shape(answers[0], their_names) != shape(answers[1], nobody):
            wrong.append((request.route, request.example, answers[0].text, answers[1].text))
        if not answers[0].is_success and leaked(answers[0], their_names):
            wrong.append((request.route, request.example, "echoes", answers[0].text))
    assert wrong == []
    assert asked >= 15
    assert rows_of(system, theirs.tenant.tenant_id) == before


def test_their_cursors_are_places_of_ones_own_lists_and_nothing_more(
    system: RunningSystem, tenants: Tenants
) -> None:
    theirs, their_names, mine, my_names = tenants
    before = rows_of(system, theirs.tenant.tenant_id)
    paged = list(paged_routes(system))
    assert len(paged) >= 15
    wrong = []
    for path in paged:
        page = theirs.http.get(filled(path, their_names), params={"limit": 1})
        given = page.json().get("next_cursor")
        every = {given} if given else set()
        every |= {encode_cursor(one) for name, one in their_names.items() if name in PREFIXES}
        for cursor in sorted(every):
            answers = [
                mine.http.get(filled(path, my_names), params={"cursor": one, "limit": 100})
                for one in (cursor, neighbour(cursor))
            ]
            if answers[0].status_code not in (200, 422) or told(answers[0]) != told(answers[1]):
                wrong.append((path, cursor, answers[0].text[:300], answers[1].text[:300]))
            if path != AUDIT and leaked(answers[0], their_names):
                wrong.append((path, cursor, "leaks", answers[0].text[:300]))
    assert wrong == []
    assert rows_of(system, theirs.tenant.tenant_id) == before


def test_their_ids_over_mcp_are_ids_that_never_existed(
    system: RunningSystem, tenants: Tenants
) -> None:
    theirs, their_names, mine, my_names = tenants
    nobody = {name: new_id(prefix) for name, prefix in PREFIXES.items()}
    before = rows_of(system, theirs.tenant.tenant_id)
    calls = [
        (
            example.chosen["tool_name"],
            filled(example.body["arguments"], my_names | kept_apart(names)),
        )
        for example in EXAMPLES["POST /v1/tools/{tool_name}"]
        if "{" in json.dumps(example.body["arguments"]).replace("{", "", 1)
        for names in (their_names, nobody)
    ]

    async def script(agent: Any) -> list[Any]:
        return [
            await agent.call_tool(name, {"namespace": SHARED, **arguments})
            for name, arguments in calls
        ]

    results = over_mcp(system.url, mine.tenant.admin_key, script)
    texts = [result.model_dump_json() for result in results]
    assert len(texts) >= 12
    for number in range(0, len(texts), 2):
        asked, unknown = (
            plain(text, names)
            for text, names in zip(texts[number : number + 2], (their_names, nobody), strict=True)
        )
        assert asked == unknown, calls[number]
    assert rows_of(system, theirs.tenant.tenant_id) == before


def inside() -> Iterator[Request]:
    """The examples that name an id in their body or query."""
    for route, examples in EXAMPLES.items():
        for example in examples:
            named = set(re.findall(r"{(\w+)}", json.dumps([example.body, example.query])))
            if named & PREFIXES.keys():
                yield Request(route, example)


def sent(request: Request, client: httpx.Client, mine: Names, names: Names) -> httpx.Response:
    """Ask about one's own path with these names in body and query."""
    example = request.example
    return client.request(
        request.route.split(" ")[0],
        filled(request.path, mine | example.chosen),
        json=filled(example.body, names),
        params=filled(example.query, names),
    )


def kept_apart(names: Names) -> Names:
    """The ids alone: namespaces and threads are one's own."""
    return {name: one for name, one in names.items() if name in PREFIXES}


def leaked(response: httpx.Response, names: Names) -> bool:
    return any(one in response.text for one in kept_apart(names).values())


def shape(response: httpx.Response, names: Names) -> tuple[int, str]:
    """A status and body in which what each answer has of its own is taken out."""
    return response.status_code, plain(response.text, names)


def plain(text: str, names: Names) -> str:
    for name, one in kept_apart(names).items():
        text = text.replace(one, f"<{name}>")
    return _MOMENT.sub("<moment>", _ID.sub("<id>", text))


def paged_routes(system: RunningSystem) -> Iterator[str]:
    """The paths of the published document whose lists have cursors."""
    document = checked(httpx.get(f"{system.url}/openapi.json", timeout=60), 200)
    for path, operations in document["paths"].items():
        parameters = operations.get("get", {}).get("parameters", [])
        if "cursor" in {parameter["name"] for parameter in parameters}:
            yield path


def neighbour(cursor: str) -> str:
    """The cursor of an id that nobody ever had, at the same place of every list."""
    key = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    return encode_cursor(_ID.sub(lambda found: found.group()[:-4] + "0000", key))


def told(response: httpx.Response) -> Json:
    body: Json = response.json()
    return {name: value for name, value in body.items() if name != "request_id"}
