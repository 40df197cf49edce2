"""The one owner of identity: opaque, typed, time-ordered ids (`evt_` + UUIDv7 in hex)."""

from __future__ import annotations

import re
import secrets
import threading
import time
from enum import StrEnum

from shared.errors import InvalidInput


class Prefix(StrEnum):
    """The kinds of id that exist; the prefix is part of the contract."""

    TENANT = "ten"
    KEY = "key"
    TURN = "trn"
    MESSAGE = "msg"
    BLOCK = "blk"
    EVENT = "evt"
    NODE = "nod"
    LABEL = "lbl"
    FACT = "fct"
    EDGE = "edg"
    GRAPH_VERSION = "gvn"
    BATCH = "bat"
    ASSESSMENT = "asm"
    RECEIPT = "rcp"
    JOB = "job"
    IMPORT = "imp"
    CONFLICT = "cfl"
    ERASURE = "era"
    EXPORT = "exp"
    REQUEST = "req"


_lock = threading.Lock()
_last_ms = 0
_counter = 0
_MAX_COUNTER = 0xFFF
_SHAPE = re.compile(r"([a-z]{3,4})_([0-9a-f]{32})")


def new_id(prefix: Prefix) -> str:
    """Make an id that sorts after every id made before it in this process (RFC 9562, UUIDv7).

    48 bits of milliseconds, a 12-bit counter within the millisecond, 62 random bits.
    """
    global _last_ms, _counter
    with _lock:
        now_ms = time.time_ns() // 1_000_000
        if now_ms > _last_ms:
            _last_ms, _counter = now_ms, 0
        else:
            _counter += 1
            if _counter > _MAX_COUNTER:
                _last_ms, _counter = _last_ms + 1, 0
        ms, counter = _last_ms, _counter
    value = (ms << 80) | (0x7 << 76) | (counter << 64) | (0b10 << 62) | secrets.randbits(62)
    return f"{prefix.value}_{value:032x}"


def check_id(value: str, prefix: Prefix, pointer: str) -> str:
    """Return `value` if it is an id of that kind; else raise InvalidInput naming the field."""
    match = _SHAPE.fullmatch(value)
    if match is None or match.group(1) != prefix.value:
        raise InvalidInput.at(
            pointer, f"expected an id beginning with '{prefix.value}_'", code="wrong_id_type"
        )
    return value
