"""Export, unpack, change and restore bundles in tests."""

from __future__ import annotations

import gzip
import hashlib
from collections import Counter
from typing import Any

import httpx
import orjson

from tests.integration.erasure.eraser import Eraser
from tests.integration.reprocess.memory import HOME

Line = dict[str, Any]


def exported(memory: Eraser) -> bytes:
    """Export the namespace and fetch its bundle."""
    begun = memory.client.post(f"{HOME}/exports")
    assert begun.status_code == 202, begun.text
    memory.run()
    export = memory.client.get(f"/v1/exports/{begun.json()['export_id']}").json()
    assert export["state"] == "done", export
    fetched = memory.client.get(export["bundle"])
    assert fetched.status_code == 200
    assert fetched.headers["content-type"] == "application/gzip"
    assert hashlib.sha256(fetched.content).hexdigest() == export["sha256"]
    assert len(fetched.content) == export["size_bytes"]
    return fetched.content


def restored(memory: Eraser, bundle: bytes, *, home: str = HOME, key: str = "") -> httpx.Response:
    """Restore a bundle."""
    headers = {"Content-Type": "application/gzip"} | ({"Idempotency-Key": key} if key else {})
    return memory.client.post(f"{home}/restore", content=bundle, headers=headers)


def lines_of(bundle: bytes) -> list[Line]:
    """Unpack a bundle."""
    return [orjson.loads(line) for line in gzip.decompress(bundle).splitlines()]


def packed(lines: list[Line], *, is_honest: bool = True) -> bytes:
    """Pack lines; an honest one counts and hashes what it holds."""
    *content, last = lines
    if is_honest:
        raw = b"".join(orjson.dumps(line) + b"\n" for line in content)
        counts = Counter(line["record"] for line in content if line["record"] != "bundle")
        last = last | {
            "counts": dict(sorted(counts.items())),
            "sha256": hashlib.sha256(raw).hexdigest(),
        }
    return gzip.compress(b"".join(orjson.dumps(line) + b"\n" for line in [*content, last]))


def first(lines: list[Line], record: str) -> Line:
    """Return the fields of the first record of a kind."""
    fields: Line = next(line["fields"] for line in lines if line["record"] == record)
    return fields
