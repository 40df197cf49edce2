"""Read a bundle hard: unpack within a limit, check every line, and believe no count.

A bundle is read twice: first whole, with nothing stored, then again to be written.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from pydantic import ValidationError

from ingest.schemas.policy import PolicyIn
from shared.domain.bundle import FIRST, FORMAT, LAST, VERSION, BadBundle, BundleCheck
from shared.domain.bundle_kinds import KINDS, Kind
from shared.domain.tenancy import is_name
from shared.errors import InvalidInput, TooLarge

_GZIP: Final = 31
_PIECE: Final = 262_144
_LONGEST_LINE: Final = 16_777_216
_COUNTERS: Final = ("turn_count", "block_count", "erased_turn_count", "erased_block_count")


@dataclass(slots=True)
class ThreadCounts:
    """What a thread says of itself, and what the bundle really holds of it."""

    said: Mapping[str, int]
    turns: int = 0
    last_turn: int = 0
    blocks: int = 0
    ready: int = 0
    sealed: int = 0


@dataclass(frozen=True, slots=True)
class ReadBundle:
    """A bundle that keeps every rule: its first record, its counts and its ids."""

    home: Mapping[str, Any]
    counts: Mapping[str, int]
    ids: frozenset[str]
    policy: Mapping[str, Any]
    threads: Mapping[str, ThreadCounts] = field(default_factory=dict)


def read_bundle(body: bytes, *, limit_bytes: int) -> ReadBundle:
    """Check a bundle from its first byte to its last.

    Raises InvalidInput (`invalid_bundle`), naming the line, and TooLarge when it unpacks to more
    than `limit_bytes`.
    """
    number = 0
    try:
        reader = _Reader()
        for line in _lines(body, limit_bytes=limit_bytes):
            number += 1
            reader.take(line)
        return reader.whole()
    except (BadBundle, ValueError, RecursionError) as error:
        words = str(error) if isinstance(error, BadBundle) else "this is no JSON"
        raise InvalidInput.at("", f"line {number}: {words}", "invalid_bundle") from error


def records(body: bytes, *, limit_bytes: int) -> Iterator[tuple[Kind, Mapping[str, Any]]]:
    """Give the records of a bundle that `read_bundle` has found sound."""
    kinds = {kind.name: kind for kind in KINDS}
    for line in _lines(body, limit_bytes=limit_bytes):
        record = orjson.loads(line)
        if record["record"] in kinds:
            yield kinds[record["record"]], record["fields"]


class _Reader:
    """Takes the lines of a bundle one by one."""

    def __init__(self) -> None:
        self.check = BundleCheck()
        self.counts: Counter[str] = Counter()
        self.threads: dict[str, ThreadCounts] = {}
        self.home: Mapping[str, Any] | None = None
        self.policy: Mapping[str, Any] = {}
        self._content = hashlib.sha256()
        self._is_over = False
        self._counted_turns = 0

    def take(self, line: bytes) -> None:
        record = orjson.loads(line)
        if not isinstance(record, dict):
            raise BadBundle("a record is a JSON object")
        if self._is_over:
            raise BadBundle("something follows the last record")
        if self.home is None:
            self._first(record)
        elif record.get("record") == LAST:
            self._last(record)
            return
        else:
            self._record(record)
        self._content.update(line + b"\n")

    def whole(self) -> ReadBundle:
        """Return what was read, once it has ended well."""
        if self.home is None or not self._is_over:
            raise BadBundle("the last record is missing: the bundle is cut off")
        self.check.whole()
        for name, thread in self.threads.items():
            if not _agrees(thread):
                raise BadBundle(f"the counters of thread '{name}' are not what it holds")
        turns = self.home["turn_count"] - self.home["erased_turn_count"]
        blocks = self.home["block_count"] - self.home["erased_block_count"]
        if (turns, blocks) != (self._counted_turns, self.counts["block"]):
            raise BadBundle("the counters of the namespace are not what it holds")
        if self.counts["layer"] != 3 * self.counts["block"]:
            raise BadBundle("a block has levels 3, 4 and 5")
        ids = frozenset(self.check.ids)
        return ReadBundle(self.home, dict(self.counts), ids, self.policy, self.threads)

    def _first(self, record: Mapping[str, Any]) -> None:
        if (record.get("record"), record.get("format")) != (FIRST, FORMAT):
            raise BadBundle("this is no bundle")
        if record.get("version") != VERSION:
            raise BadBundle(f"only version {VERSION} is understood here")
        for counter in _COUNTERS:
            if type(record.get(counter)) is not int or not 0 <= record[counter] < 2**53:
                raise BadBundle(f"{counter} is no count")
        try:
            policy = PolicyIn.model_validate(record.get("policy"))
        except ValidationError as error:
            raise BadBundle("the policy is none") from error
        self.policy = policy.model_dump(exclude_none=True)
        self.home = record

    def _record(self, record: Mapping[str, Any]) -> None:
        if record.keys() != {"record", "fields"} or not isinstance(record["fields"], dict):
            raise BadBundle("a record has 'record' and 'fields'")
        values = record["fields"]
        kind = self.check.record(record["record"], values)
        self.counts[kind.name] += 1
        self._count(kind.name, values)

    def _count(self, name: str, values: Mapping[str, Any]) -> None:
        if name == "thread":
            if not is_name(values["thread_id"]):
                raise BadBundle("that cannot be the name of a thread")
            self.threads[values["thread_id"]] = ThreadCounts(values)
        elif name == "turn":
            thread = self.threads[values["thread_id"]]
            thread.turns += 1
            # The text of an import is no turn of the namespace's clock, which counts from 1.
            self._counted_turns += values["namespace_turn"] > 0
            thread.last_turn = max(thread.last_turn, values["sequence"])
        elif name == "block":
            thread = self.threads[values["thread_id"]]
            thread.blocks += 1
            thread.sealed = max(thread.sealed, values["end_turn"])
        elif name == "state":
            self.threads[values["thread_id"]].ready += values["status"] == "ready"

    def _last(self, record: Mapping[str, Any]) -> None:
        if record.get("counts") != dict(self.counts):
            raise BadBundle("the counts are not those of the records before")
        if record.get("sha256") != self._content.hexdigest():
            raise BadBundle("the hash is not that of the records before")
        self._is_over = True


def _agrees(thread: ThreadCounts) -> bool:
    said = thread.said
    return (
        min(said[name] for name in said if name.endswith("_count")) >= 0
        and said["turn_count"] - said["erased_turn_count"] == thread.turns
        and said["block_count"] == thread.blocks
        and said["ready_count"] == thread.ready
        and thread.last_turn <= said["turn_count"]
        and thread.sealed <= said["sealed_turn_count"] <= said["turn_count"]
    )


def _lines(body: bytes, *, limit_bytes: int) -> Iterator[bytes]:
    """Unpack piece by piece and give the lines; a bomb is noticed before it is unpacked."""
    rest = b""
    for piece in _unpacked(body, limit_bytes=limit_bytes):
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        if len(rest) > _LONGEST_LINE:
            raise BadBundle("a line is too long")
    if rest:
        raise BadBundle("the last line is cut off")


def _unpacked(body: bytes, *, limit_bytes: int) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(_GZIP)
    given, size = body, 0
    try:
        while not unpacker.eof:
            piece = unpacker.decompress(given, _PIECE)
            given = unpacker.unconsumed_tail
            size += len(piece)
            if size > limit_bytes:
                raise TooLarge(
                    f"the bundle unpacks to more than {limit_bytes} bytes", code="bundle_too_large"
                )
            if not piece and not given and not unpacker.eof:
                raise BadBundle("the bundle is cut off")
            yield piece
    except zlib.error as error:
        raise BadBundle("this is no gzip file") from error
    if unpacker.unused_data:
        raise BadBundle("something follows the end of the gzip file")
