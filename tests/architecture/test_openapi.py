"""The API's document is whole, checked in, and says of every route how it can refuse."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from deploy.openapi import PAGE, openapi_document
from shared.http.refusals import STATUS_OF, refuses

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
NO_ROUTE_OF_THE_DOCUMENT = {
    "method_not_allowed": "a method that the document does not have",
    "http_error": "a request that reaches no route",
    "conflict": "every conflict of a route has a narrower code",
    "internal_error": "ours alone",
    "host_not_allowed": "of /mcp, which speaks its own protocol",
    "fixed_by_connection": "of /mcp",
    "no_api_key": "of the command line",
    "unknown_transcript": "of the command line",
    "stale_target": "stands in `errors` alone",
}


@cache
def document() -> dict[str, Any]:
    """Made once: it takes seconds."""
    return openapi_document()


def operations() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, item in document()["paths"].items()
        for method, operation in item.items()
    ]


def codes_of(operation: dict[str, Any]) -> dict[str, set[str]]:
    """The documented codes of an operation, by status."""
    return {
        status: set(
            response["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"][
                "code"
            ]["enum"]
        )
        for status, response in operation["responses"].items()
        if status >= "400"
    }


def test_the_document_checked_in_is_the_codes() -> None:
    found = json.loads(PAGE.read_text(encoding="utf-8"))
    assert found == document(), "run `python3 -m deploy openapi`"


def test_the_document_is_openapi_3_1() -> None:
    assert document()["openapi"].startswith("3.1.")


def test_every_route_has_a_summary_a_tag_and_its_permission() -> None:
    for route, operation in operations():
        assert operation["summary"], route
        assert len(operation["tags"]) == 1, route
        needs_key = bool(operation.get("security"))
        assert bool(operation["x-permissions"]) is needs_key, route
        for permission in operation["x-permissions"]:
            assert f"`{permission}`" in operation["description"], route


def test_every_id_of_an_operation_is_its_own() -> None:
    names = [operation["operationId"] for _, operation in operations()]
    assert len(names) == len(set(names))


def test_every_route_says_how_it_refuses_and_each_answer_carries_the_requests_id() -> None:
    for route, operation in operations():
        codes = codes_of(operation)
        assert all(STATUS_OF[code] == status for status in codes for code in codes[status]), route
        if operation.get("security"):
            assert {"unauthorized", "forbidden", "rate_limited", "unavailable"} <= set().union(
                *codes.values()
            ), route
        for response in operation["responses"].values():
            assert "X-Request-Id" in response["headers"], route


def test_every_code_of_the_reference_is_some_routes_and_every_routes_is_in_the_reference() -> None:
    text = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+|in `errors`) \|", text, re.MULTILINE))
    documented = {
        code
        for _, operation in operations()
        for codes in codes_of(operation).values()
        for code in codes
    }
    assert set(rows) == documented | set(NO_ROUTE_OF_THE_DOCUMENT)
    assert {code: rows[code] for code in documented} == {
        code: STATUS_OF[code] for code in documented
    }
    assert documented == set(STATUS_OF)


def test_a_route_cannot_name_a_code_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="no_such_code"):
        refuses("no_such_code")
