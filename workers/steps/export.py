"""Write a namespace as a portable bundle: gzip of JSON lines, in one snapshot (see the reference).

The bundle, its chunks and the end of the job are one transaction.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

import orjson

from shared.domain.bundle import FIRST, FORMAT, LAST, VERSION
from shared.domain.jobs import Cancel, Done, Job, JobKind, Outcome
from shared.errors import NotFound
from shared.store.database import ReadTx, WriteTx
from shared.store.export_rows import origin_mark, records_of
from shared.store.exports import RUNNING, Export, add_chunk, find_export, finish_export
from workers.models.asking import Asker
from workers.step import Step, StepContext

CHUNK_BYTES: Final = 262_144
_GZIP: Final = 31


def load(tx: ReadTx, job: Job, _context: StepContext) -> Export | Done | Cancel:
    """Return the export, unless it is over."""
    try:
        export = find_export(tx, str(job.payload["export_id"]))
    except NotFound:
        return Cancel("no_such_export")
    return export if export.state == RUNNING else Done(reason="done_before")


def think(export: Export, _asker: Asker) -> Export:
    """Pass the export on: nothing here asks a model."""
    return export


def store(tx: WriteTx, _job: Job, export: Export, context: StepContext) -> Outcome:
    """Write the bundle."""
    bundle = _Bundle(tx, export.export_id)
    lines = _lines(tx, export, created_at=context.now.isoformat())
    for line in lines:
        bundle.write(line)
    size = bundle.close()
    counts = dict(sorted(bundle.counts.items()))
    finish_export(
        tx,
        export.export_id,
        counts=counts,
        size_bytes=size,
        sha256=bundle.sha256.hexdigest(),
        keep_s=context.settings.keep_export_s,
    )
    return Done(result={"export_id": export.export_id, "counts": counts, "bytes": size})


class _Bundle:
    """A bundle while it is written: compressed, in chunks, counted and hashed."""

    def __init__(self, tx: WriteTx, export_id: str) -> None:
        self.tx = tx
        self.export_id = export_id
        self.counts: Counter[str] = Counter()
        self.sha256 = hashlib.sha256()
        self._content = hashlib.sha256()
        self._packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
        self._waiting = bytearray()
        self._chunks = 0
        self._size = 0

    def write(self, line: dict[str, object]) -> None:
        """Add one record."""
        data = orjson.dumps(line) + b"\n"
        self._content.update(data)
        if line["record"] not in (FIRST, LAST):
            self.counts[str(line["record"])] += 1
        self._pack(self._packer.compress(data))

    def close(self) -> int:
        """Add the last record, with counts and the hash of all lines before; return the size."""
        last = {
            "record": LAST,
            "counts": dict(sorted(self.counts.items())),
            "sha256": self._content.hexdigest(),
        }
        self._pack(self._packer.compress(orjson.dumps(last) + b"\n"))
        self._pack(self._packer.flush(), is_last=True)
        return self._size

    def _pack(self, data: bytes, *, is_last: bool = False) -> None:
        self._waiting += data
        while len(self._waiting) >= CHUNK_BYTES or (is_last and self._waiting):
            chunk = bytes(self._waiting[:CHUNK_BYTES])
            del self._waiting[:CHUNK_BYTES]
            add_chunk(self.tx, self.export_id, self._chunks, chunk)
            self.sha256.update(chunk)
            self._chunks += 1
            self._size += len(chunk)


def _lines(tx: ReadTx, export: Export, *, created_at: str) -> Iterator[dict[str, object]]:
    records = records_of(tx, export.namespace)
    _, home = next(records)
    yield {
        "record": FIRST,
        "format": FORMAT,
        "version": VERSION,
        "created_at": created_at,
        "namespace": export.namespace,
        "origin": origin_mark(tx, export.namespace),
        **home,
    }
    for name, fields in records:
        yield {"record": name, "fields": fields}


STEP: Final = Step(JobKind.EXPORT, None, load, think, store)
