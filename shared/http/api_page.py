"""The page of the API at /docs: plain HTML made of the OpenAPI document, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "summary{cursor:pointer;padding:.25rem 0}"
    "code{font-family:ui-monospace,monospace}"
    "dl{margin:.5rem 0 1rem 1.5rem}"
    "dt{font-weight:600}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8bf}}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
}
_METHODS = ("get", "post", "put", "patch", "delete")
_OTHERS = "other"
router = APIRouter(include_in_schema=False)


@router.get("/docs", response_class=HTMLResponse)
async def page(request: Request) -> HTMLResponse:
    """Answer with the list of routes; scripts are neither needed nor allowed."""
    return HTMLResponse(render(request.app.openapi()), headers=_HEADERS)


def render(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI document: routes by tag, each with what it takes and gives."""
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    sections: dict[str, list[str]] = {}
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                tag = (item[method].get("tags") or [_OTHERS])[0]
                sections.setdefault(tag, []).append(_operation(method, path, item[method]))
    body = "".join(
        f"<h2>{escape(tag)}</h2>{''.join(routes)}" for tag, routes in sorted(sections.items())
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><h1>{title}</h1><p>Every request but health, metrics and version needs "
        "<code>Authorization: Bearer sg_…</code>. The whole contract, schemas included, for "
        'tools and generators: <a href="/openapi.json">/openapi.json</a>.</p>'
        f"{body}</body></html>"
    )


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    head = f"<code>{method.upper()} {escape(path)}</code>"
    rows = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in _rows(operation)
    )
    return (
        f"<details><summary>{head} {escape(operation.get('summary', ''))}</summary>"
        f"<dl>{rows}</dl></details>"
    )


def _rows(operation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if operation.get("description"):
        yield "about", operation["description"]
    for parameter in operation.get("parameters", ()):
        need = "required" if parameter.get("required") else "optional"
        about = parameter.get("description", "")
        yield f"{parameter['in']} {parameter['name']}", f"{need}. {about}".strip()
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield "body", f"{kind}: {_schema_name(content.get('schema', {}))}"
    for status, response in operation.get("responses", {}).items():
        yield f"answer {status}", response.get("description", "")


def _schema_name(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_schema_name(schema.get('items', {}))}"
    return str(schema.get("title") or schema.get("type") or "any")
