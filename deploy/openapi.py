"""`python3 -m deploy openapi`: write the OpenAPI document of both services into the reference."""

from __future__ import annotations

import json
from typing import Any

from deploy.bootstrap import ROOT
from deploy.local.composition import compose
from ingest.app import create_app as ingest_app
from retrieval.app import create_app as retrieval_app
from shared.settings import Settings

PAGE = ROOT / "docs" / "reference" / "openapi.json"
API_VERSION = "v1"
"""The contract's version: the document is the same for every release that keeps it."""


def openapi_document() -> dict[str, Any]:
    """Return the document of the whole API, made of the code."""
    settings = Settings()
    services = [ingest_app(settings), retrieval_app(settings)]
    return compose(services, title="StrataGate", version=API_VERSION).openapi()


def rendered() -> str:
    """Return the document as the file holds it."""
    return json.dumps(openapi_document(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def run_openapi() -> int:
    """Write the document; return the exit code."""
    PAGE.write_text(rendered(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0
