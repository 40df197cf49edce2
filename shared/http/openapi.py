"""An application whose OpenAPI document says of errors what they are: problem documents."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from shared.http.problems import MEDIA_TYPE

_PLAIN = "application/json"
_FIRST_ERROR = "400"


class DocumentedApp(FastAPI):
    """FastAPI, whose document would give every answer of a route one media type."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document; made once."""
        if self.openapi_schema is None:
            document = super().openapi()
            for operations in document["paths"].values():
                for operation in operations.values():
                    _correct(operation["responses"])
        return super().openapi()


def _correct(responses: dict[str, Any]) -> None:
    for status, response in responses.items():
        content = response.get("content", {})
        if status >= _FIRST_ERROR and _PLAIN in content:
            content[MEDIA_TYPE] = content.pop(_PLAIN)
