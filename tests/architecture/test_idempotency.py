"""Every POST that writes can be repeated safely; what needs no key for that is listed with why."""

from __future__ import annotations

from typing import Any

import ingest.routes
import retrieval.routes
from shared.http.application import build_app
from shared.settings import Settings

NEEDS_NO_KEY = {
    "/v1/namespaces/{ns}/turns/batch": "each turn has its own receipt",
    "/v1/namespaces/{ns}/host-events": "each turn's receipt is made of session and number",
    "/v1/host-events": "each turn's receipt is made of session and number",
    "/v1/erasures/{era}/verify": "it checks a certificate and writes nothing",
    "/v1/batches/{bat}/assessment": "the latest assessment of a batch holds; the same again is it",
}
READS = "/v1/retrieval/{ns}/"
"""Searches and expansions make a batch each and change nothing that is remembered."""


def test_every_post_that_writes_takes_a_receipt_or_an_idempotency_key() -> None:
    routers = [ingest.routes.router, retrieval.routes.router]
    document = build_app(Settings(), title="idempotency", routers=routers).openapi()
    posts = {
        path: operations["post"]
        for path, operations in document["paths"].items()
        if "post" in operations and not path.startswith(READS)
    }
    without = {path for path, post in posts.items() if not _takes_key(document, post)}
    assert without == set(NEEDS_NO_KEY)


def _takes_key(document: dict[str, Any], operation: dict[str, Any]) -> bool:
    named = {parameter["name"].lower() for parameter in operation.get("parameters", [])}
    content = operation.get("requestBody", {}).get("content", {})
    schema = str(content.get("application/json", {}).get("schema", {}).get("$ref", ""))
    fields = document["components"]["schemas"].get(schema.rpartition("/")[2], {})
    return "idempotency-key" in named or "receipt_id" in fields.get("properties", {})
