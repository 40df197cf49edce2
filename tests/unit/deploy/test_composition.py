import asyncio
import contextlib
import re

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel
from starlette.responses import JSONResponse

from deploy.local.composition import compose
from deploy.local.openapi_merge import merge_documents
from ingest.routes import router as ingest_router
from retrieval.routes import router as retrieval_router
from shared.http.api_page import render
from shared.http.application import build_app
from tests.support.databases import settings_for

ROUTERS = {"ingest": ingest_router, "retrieval": retrieval_router}


class Problem(BaseModel):
    code: str


def _service(name: str, events: list[str], model: type[BaseModel]) -> FastAPI:
    @contextlib.asynccontextmanager
    async def lifespan(_app):
        events.append(f"{name} up")
        yield
        events.append(f"{name} down")

    service = FastAPI(title=name, lifespan=lifespan)
    router = APIRouter()

    @router.get("/health/live", operation_id=f"{name}_health")
    def health() -> dict[str, str]:
        return {"by": name}

    @router.post(f"/v1/{name}/things/{{thing}}", operation_id=f"{name}_post")
    def post(thing: str, body: model) -> model:  # type: ignore[valid-type]
        return body

    @router.get(f"/v1/{name}/fault", operation_id=f"{name}_fault")
    def fault() -> None:
        raise KeyError(name)

    service.include_router(router)

    @service.exception_handler(KeyError)
    def handle(_request, error):
        return JSONResponse({"handled_by": name, "what": str(error)}, status_code=418)

    return service


class IngestBody(BaseModel):
    left: int


@pytest.fixture
def events():
    return []


@pytest.fixture
def composed(events):
    other = type("IngestBody", (BaseModel,), {"__annotations__": {"right": str}})
    services = [_service("ingest", events, IngestBody), _service("retrieval", events, other)]
    return compose(services, title="StrataGate", version="1")


class Client:
    """Asks the application directly, each request on a loop of its own."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    def get(self, path: str) -> httpx.Response:
        return asyncio.run(self._ask("GET", path, None))

    def post(self, path: str, body: dict[str, object]) -> httpx.Response:
        return asyncio.run(self._ask("POST", path, body))

    def request(self, method: str, path: str, **options: object) -> httpx.Response:
        return asyncio.run(self._ask(method, path, None, **options))

    async def _ask(self, method: str, path: str, body: object, **options: object) -> httpx.Response:
        transport = httpx.ASGITransport(app=self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
            return await client.request(method, path, json=body, **options)


@pytest.fixture
def client(composed):
    return Client(composed)


def test_each_path_reaches_the_service_that_has_it(client):
    assert client.post("/v1/ingest/things/1", {"left": 1}).json() == {"left": 1}
    assert client.post("/v1/retrieval/things/1", {"right": "x"}).json() == {"right": "x"}


def test_a_path_of_both_is_answered_once_by_the_first(client):
    assert client.get("/health/live").json() == {"by": "ingest"}


def test_each_service_keeps_its_own_error_handlers(client):
    assert client.get("/v1/ingest/fault").json()["handled_by"] == "ingest"
    assert client.get("/v1/retrieval/fault").json()["handled_by"] == "retrieval"


def test_a_wrong_method_and_an_unknown_path_get_their_usual_answers(client):
    assert client.get("/v1/retrieval/things/1").status_code == httpx.codes.METHOD_NOT_ALLOWED
    assert client.get("/v1/nowhere").status_code == httpx.codes.NOT_FOUND


def test_both_services_start_and_stop_with_the_whole(composed, events):
    async def live() -> list[str]:
        async with composed.router.lifespan_context(composed):
            return list(events)

    assert asyncio.run(live()) == ["ingest up", "retrieval up"]
    assert events[2:] == ["retrieval down", "ingest down"]


def test_one_document_describes_all_paths_and_keeps_schemas_of_one_name_apart(client):
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {
        "/health/live",
        "/v1/ingest/things/{thing}",
        "/v1/ingest/fault",
        "/v1/retrieval/things/{thing}",
        "/v1/retrieval/fault",
    }
    schemas = document["components"]["schemas"]
    assert "left" in schemas["IngestBody"]["properties"]
    assert "right" in schemas["IngestBody2"]["properties"]
    body = document["paths"]["/v1/retrieval/things/{thing}"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"]["$ref"].endswith("/IngestBody2")
    assert "HTTPValidationError2" not in schemas


@pytest.fixture
def whole():
    """Both services as they are; nothing here reaches a database."""
    settings = settings_for("postgresql://nobody@127.0.0.1:1/nothing")
    made = [build_app(settings, name, [router]) for name, router in ROUTERS.items()]
    return Client(compose(made, title="StrataGate", version="1"))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nowhere", 404),
        ("GET", "/", 404),
        ("GET", "/v1/nowhere%0a", 404),
        ("GET", "/v1/names%0apaces/a/turns", 404),
        ("PUT", "/v1/namespaces/a%0a/turns", 405),
        ("POST", "/docs", 405),
        ("POST", "/openapi.json", 405),
        ("BREW", "/health/live", 405),
        ("GET", "/v1/namespaces/a%0a", 503),
    ],
)
def test_every_unknown_path_or_method_is_a_problem_with_a_request_id(whole, method, path, status):
    headers = {"Authorization": "Bearer sg_anything"}
    answer = whole.request(method, path, headers=headers)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"]


def test_the_page_of_the_whole_lists_each_route_and_needs_nothing_from_elsewhere(whole):
    answer = whole.request("GET", "/docs")
    assert answer.status_code == httpx.codes.OK
    paths = whole.request("GET", "/openapi.json").json()["paths"]
    assert "/v1/namespaces/{ns}/turns" in paths
    assert [path for path in paths if f" {path}</code>" not in answer.text] == []
    assert any(path.startswith("/v1/retrieval/") for path in paths)
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")
    assert "<script" not in answer.text
    assert re.findall(r"(?:src|href)=.(?!/openapi.json)", answer.text) == []


def test_the_page_shows_texts_of_the_document_as_text_never_as_markup():
    operation = {"summary": "<b>&", "description": "<script>", "responses": {}}
    document = {
        "info": {"title": "<i>", "version": "1"},
        "paths": {"/a": {"get": operation}},
    }
    shown = render(document)
    assert "&lt;b&gt;&amp;" in shown
    assert "<script>" not in shown
    assert "<i>" not in shown


def test_methods_of_one_path_in_two_documents_stand_side_by_side():
    first = {"openapi": "3.1.0", "paths": {"/a": {"get": {"x": 1}}}, "tags": [{"name": "t"}]}
    second = {"openapi": "3.1.0", "paths": {"/a": {"get": {"x": 2}, "put": {"x": 3}}}}
    merged = merge_documents([first, second])
    assert merged["paths"]["/a"] == {"get": {"x": 1}, "put": {"x": 3}}
    assert merged["tags"] == [{"name": "t"}]
