from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from shared.settings import Settings
from tests.integration.ingest.serving import served, turn
from tests.support.databases import Tenant, settings_for

HOME = "/v1/namespaces/project:edge"
ORIGIN = "https://app.example.com"


def zipped(body: Any) -> bytes:
    return gzip.compress(json.dumps(body).encode())


def send(api: httpx.Client, content: bytes, **headers: str) -> httpx.Response:
    told = {"Content-Type": "application/json", "Content-Encoding": "gzip", **headers}
    return api.post(f"{HOME}/turns", content=content, headers=told)


def test_a_compressed_turn_is_the_turn_itself(api: httpx.Client) -> None:
    first = send(api, zipped(turn("r1", "Grüße aus Bern.")))
    assert first.status_code == 201
    plain = api.post(f"{HOME}/turns", json=turn("r1", "Grüße aus Bern."))
    assert plain.json() == {**first.json(), "duplicate": True}


def test_a_compressed_batch_is_taken(api: httpx.Client) -> None:
    lines = "\n".join(json.dumps(turn(f"r{n}")) for n in range(3))
    answer = api.post(
        f"{HOME}/turns/batch",
        content=gzip.compress(lines.encode()),
        headers={"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"},
    )
    assert answer.json()["stored"] == 3


def test_members_one_behind_the_other_are_one_body(api: httpx.Client) -> None:
    text = json.dumps(turn("r1"))
    halves = gzip.compress(text[:10].encode()) + gzip.compress(text[10:].encode())
    assert send(api, halves).status_code == 201


def test_a_bomb_is_413_and_never_unpacked(api: httpx.Client) -> None:
    bomb = gzip.compress(b" " * 200_000_000, compresslevel=9)
    assert len(bomb) < 250_000
    answer = send(api, bomb)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    many = gzip.compress(b" " * 4_000_000) * 40
    assert send(api, many).json()["code"] == "body_too_large"


@pytest.mark.parametrize(
    "content",
    [
        b"no gzip at all",
        zipped(turn("r1"))[:-9],
        zipped(turn("r1")) + b"more",
        zlib.compress(json.dumps(turn("r1")).encode()),
    ],
    ids=["plain", "broken off", "text behind", "zlib"],
)
def test_what_is_no_whole_gzip_stream_is_422(api: httpx.Client, content: bytes) -> None:
    answer = send(api, content)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_encoding")


def test_another_encoding_is_415(api: httpx.Client) -> None:
    answer = send(api, b"{}", **{"Content-Encoding": "br"})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_encoding")


def test_long_answers_are_compressed_for_who_can_read_it(api: httpx.Client) -> None:
    for n in range(40):
        api.put(f"/v1/namespaces/project:with-a-long-name-{n}", json={})
    asked = {"Accept-Encoding": "gzip"}
    packed = api.get("/v1/namespaces", headers=asked)
    assert packed.headers["Content-Encoding"] == "gzip"
    plain = api.get("/v1/namespaces", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert "Content-Encoding" not in api.get("/v1/policy", headers=asked).headers


@pytest.mark.parametrize("path", ["/v1/namespaces", "/v1/none", "/v1/namespaces/none"])
def test_every_answer_of_the_api_keeps_browsers_from_guessing_and_keeping(
    api: httpx.Client, path: str
) -> None:
    headers = api.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["X-Request-Id"].startswith("req_")
    assert "Strict-Transport-Security" not in headers
    assert "Access-Control-Allow-Origin" not in headers


def test_the_page_of_the_api_runs_no_script(anyone: httpx.Client) -> None:
    headers = anyone.get("/docs").headers
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_no_other_origin_may_call_the_api_by_default(api: httpx.Client) -> None:
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}
    assert api.options("/v1/namespaces", headers=asked).status_code == 405
    answer = api.get("/v1/namespaces", headers={"Origin": ORIGIN})
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.fixture(scope="module")
def open_url(database_url: str) -> Iterator[str]:
    more = {"cors_origins": f"{ORIGIN}, https://b.example", "hsts_max_age_s": 600}
    with served(settings_for(database_url, **more)) as url:
        yield url


def test_listed_origins_may_call_the_api(open_url: str, tenant: Tenant) -> None:
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    }
    with httpx.Client(base_url=open_url) as browser:
        preflight = browser.options("/v1/namespaces", headers=asked)
        assert preflight.status_code == 200
        assert preflight.headers["Access-Control-Allow-Origin"] == ORIGIN
        assert "Access-Control-Allow-Credentials" not in preflight.headers
        got = browser.get("/v1/namespaces", headers={"Origin": ORIGIN, **tenant.headers})
        assert got.headers["Access-Control-Allow-Origin"] == ORIGIN
        other = {**asked, "Origin": "https://evil.example"}
        refused = browser.options("/v1/namespaces", headers=other)
        assert refused.status_code == 400
        assert "Access-Control-Allow-Origin" not in refused.headers


def test_transport_security_is_told_where_it_is_set(open_url: str) -> None:
    headers = httpx.get(f"{open_url}/health/live").headers
    assert headers["Strict-Transport-Security"] == "max-age=600; includeSubDomains"


def test_a_refusal_at_the_edge_has_the_edges_headers(api: httpx.Client, settings: Settings) -> None:
    answer = api.post(f"{HOME}/turns", content=b"x" * (settings.body_limit_bytes + 1))
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Request-Id"] == answer.json()["request_id"]


def test_a_method_that_is_not_served_is_told_all_that_are(api: httpx.Client) -> None:
    answer = api.request("DELETE", "/v1/policy")
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, PATCH"
    assert api.request("OPTIONS", "/v1/keys").headers["Allow"] == "GET, POST"


def test_the_document_says_of_errors_that_they_are_problems(anyone: httpx.Client) -> None:
    document = anyone.get("/openapi.json").json()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                if status >= "400":
                    assert [*response["content"]] == ["application/problem+json"], (method, path)
    assert "429" in document["paths"]["/v1/namespaces/{ns}/turns"]["post"]["responses"]


def test_a_number_is_no_day(api: httpx.Client) -> None:
    answer = api.get("/v1/usage", params={"to": "0"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/query/to"
    assert api.get("/v1/usage", params={"from": "2026-05-01", "to": "2026-05-05"}).is_success


@pytest.mark.parametrize("name", ["batch", "restore"])
@pytest.mark.parametrize(
    "content", ['{"language": "\\u0000"}', '{"language": "\\ud800"}', "[" * 99]
)
def test_a_namespaces_name_switches_no_check_of_bodies_off(
    api: httpx.Client, name: str, content: str
) -> None:
    answers = [
        api.put(f"/v1/namespaces/{asked}", content=content) for asked in (name, "project:edge")
    ]
    told = [(one.status_code, one.json()["code"], one.json()["errors"]) for one in answers]
    assert told[0] == told[1]
    assert told[0][1] in ("unstorable_character", "json_too_deep")


@pytest.mark.parametrize(
    "path",
    ["/v1/audit-log?subject=a%00b", "/v1/keys?cursor=a%00b", "/v1/jobs?any=%00&namespace=x"],
)
def test_a_nul_in_a_query_is_422_and_named(api: httpx.Client, path: str) -> None:
    answer = api.get(path)
    assert (answer.status_code, answer.json()["code"]) == (422, "unstorable_character")
    assert answer.json()["errors"][0]["pointer"].startswith("/query/")
