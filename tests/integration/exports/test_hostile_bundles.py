"""A bundle from a stranger: refused whole, with a word on what is wrong, and nothing stored."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from shared.ids import Prefix, new_id
from tests.integration.erasure.eraser import Eraser
from tests.integration.exports.packing import (
    Line,
    first,
    lines_of,
    packed,
    restored,
)
from tests.integration.reprocess.memory import HOME

FOREIGN = new_id(Prefix.MESSAGE)


def _set(record: str, field: str, value: Any) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        first(lines, record)[field] = value

    return change


def _drop(record: str) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        lines.remove(next(line for line in lines if line["record"] == record))

    return change


def _repeat(record: str) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        place = next(n for n, line in enumerate(lines) if line["record"] == record)
        lines.insert(place, lines[place])

    return change


def _head(**more: Any) -> Callable[[list[Line]], None]:
    return lambda lines: lines[0].update(more)


CHANGES: dict[str, Callable[[list[Line]], None]] = {
    "a source of another namespace": _set("event_source", "message_id", FOREIGN),
    "a turn of no thread": _set("turn", "thread_id", "nobody"),
    "an id of another kind": _set("turn", "turn_id", new_id(Prefix.EVENT)),
    "an id twice": _repeat("turn"),
    "a thread that cannot be": _set("thread", "thread_id", "a/b"),
    "a successor that is not there": _set("event", "superseded_by", new_id(Prefix.EVENT)),
    "a status that is none": _set("event", "status", "immortal"),
    "a pin that is none": _set("event", "pinned", "yes"),
    "a number that is none": _set("message", "position", "0"),
    "a number out of range": _set("message", "position", 2**40),
    "a time without zone": _set("turn", "created_at", "2026-01-01T00:00:00"),
    "a NUL": _set("message", "content", "a\0b"),
    "a NUL deep inside": _set("message", "metadata", {"a": ["b\0c"]}),
    "a quote of another message": _set("event", "quotes", [{"message_id": FOREIGN, "text": "x"}]),
    "another field": _set("turn", "tenant_id", "ten_x"),
    "a missing turn": _drop("turn"),
    "a missing message": _drop("message"),
    "a missing state": _drop("state"),
    "a missing level": _drop("layer"),
    "a level twice": _repeat("layer"),
    "an event without source": _drop("event_source"),
    "counters that lie": _set("thread", "turn_count", 900),
    "a namespace that lies": _head(turn_count=7),
    "a policy that is none": _head(policy={"block_turn_size": -1}),
    "another format": _head(format="zip"),
    "a later version": _head(version=2),
    "a kind that is none": lambda lines: lines.insert(1, {"record": "key", "fields": {}}),
    "an order that is none": lambda lines: lines.insert(1, lines.pop(-2)),
    "fields that are none": lambda lines: lines.insert(1, {"record": "turn", "fields": []}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_bundle_that_breaks_a_rule_is_422_and_leaves_nothing(
    bundle: bytes, elsewhere: Eraser, what: str
) -> None:
    lines = lines_of(bundle)
    CHANGES[what](lines)
    answer = restored(elsewhere, packed(lines))
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "invalid_bundle"
    assert elsewhere.client.get(HOME).status_code == 404
    assert elsewhere.turn_ids() == []


def test_counts_and_hash_are_not_believed(bundle: bytes, elsewhere: Eraser) -> None:
    lines = lines_of(bundle)
    lines[-1]["counts"]["turn"] += 1
    assert restored(elsewhere, packed(lines, is_honest=False)).status_code == 422
    lines = lines_of(bundle)
    first(lines, "message")["content"] = "Something else entirely."
    assert restored(elsewhere, packed(lines, is_honest=False)).status_code == 422
    assert restored(elsewhere, packed(lines)).status_code == 201


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\x1f\x8b",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"{}\n", mtime=0),
        gzip.compress(b"[]\n", mtime=0),
        gzip.compress(b"nonsense", mtime=0),
        gzip.compress(b"[" * 100_000 + b"\n", mtime=0),
        gzip.compress(b'{"a": "\\ud800"}\n', mtime=0),
    ],
)
def test_what_is_no_bundle_is_422(elsewhere: Eraser, content: bytes) -> None:
    answer = restored(elsewhere, content)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_bundle")


def test_a_bundle_that_is_cut_off_or_goes_on_is_422(bundle: bytes, elsewhere: Eraser) -> None:
    for content in (bundle[:-20], bundle[: len(bundle) // 2], bundle + b"more", bundle + bundle):
        assert restored(elsewhere, content).status_code == 422
    assert elsewhere.client.get(HOME).status_code == 404


def test_a_bomb_is_noticed_before_it_goes_off(elsewhere: Eraser) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = b" " * 1_048_576
    bomb = io.BytesIO()
    for _ in range(1_100):
        bomb.write(packer.compress(zeros))
    bomb.write(packer.flush())
    answer = restored(elsewhere, bomb.getvalue())
    assert answer.status_code in (413, 422)
    assert elsewhere.client.get(HOME).status_code == 404


def test_a_restore_takes_the_administrators_key(bundle: bytes, elsewhere: Eraser) -> None:
    key = elsewhere.client.post(
        "/v1/keys", json={"label": "k", "permissions": ["ingest", "read", "erase"]}
    ).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    answer = elsewhere.client.post(f"{HOME}/restore", content=bundle, headers=headers)
    assert answer.status_code == 403
    assert elsewhere.client.post(f"{HOME}/exports", headers=headers).status_code == 403
