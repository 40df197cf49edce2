"""Names, permissions and policy: who may do what, and under which rules a namespace lives (D46)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from shared.domain.turns import IMPORT_THREADS, UNTHREADED
from shared.errors import InvalidInput

# Not `.` or `..`: as parts of a path, clients resolve them away before they send anything.
_NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._:@-]{1,200}")


class Permission(StrEnum):
    """What a key allows."""

    INGEST = "ingest"
    READ = "read"
    USE = "use"
    CURATE = "curate"
    ERASE = "erase"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the tenant and the rights that the key carries; nothing a request can choose.

    `limits` are those that the operator set for the tenant.
    """

    tenant_id: str
    key_id: str
    permissions: frozenset[Permission]
    namespaces: frozenset[str] | None = None
    limits: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def may(self, permission: Permission) -> bool:
        """Tell whether the key carries the permission; `admin` carries all."""
        return permission in self.permissions or Permission.ADMIN in self.permissions

    def reaches(self, namespace: str) -> bool:
        """Tell whether the key's list of namespaces, if it has one, holds this one."""
        return self.namespaces is None or namespace in self.namespaces


@dataclass(frozen=True, slots=True)
class Stages:
    """Which stages after the summary run; one that is off is `skipped`, never waiting."""

    extract: bool = True
    project: bool = True
    embed: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one namespace.

    block_turn_size: turns of a block, at least 1. block_decay_lambda: at least 0 and finite; above
    0.40 old blocks lose detail faster than recommended. redaction: whether L5 keeps what was sent
    (`keep_source`) or the redacted text (`redact_source`), D27. provider and model: both or none.
    token_budget: tokens, in and out, that model calls for the namespace may cost a UTC day;
    tenant_token_budget: the same for all namespaces of the tenant together, set by the tenant's
    policy or the settings alone.
    """

    block_turn_size: int = 12
    block_decay_lambda: float = 0.30
    ingest_subagents: bool = False
    language: str | None = None
    redaction: str = "keep_source"
    retention_days: int | None = None
    provider: str | None = None
    model: str | None = None
    max_output_tokens: int | None = None
    token_budget: int | None = None
    tenant_token_budget: int | None = None
    stages: Stages = field(default_factory=Stages)


def effective_policy(defaults: Policy, *overrides: Mapping[str, Any]) -> Policy:
    """Lay stored overrides over the defaults, the last one winning: settings, tenant, namespace."""
    known = {f.name for f in fields(Policy)}
    policy = defaults
    for layer in overrides:
        values = {name: value for name, value in layer.items() if name in known}
        if "stages" in values:
            values["stages"] = replace(policy.stages, **values["stages"])
        policy = replace(policy, **values)
    return policy


def is_name(value: str) -> bool:
    """Tell whether a text can be the name of a namespace or thread."""
    return _NAME.fullmatch(value) is not None


def check_name(value: str, pointer: str) -> str:
    """Return a namespace or thread name if it is one; else InvalidInput names the field."""
    if not is_name(value):
        raise InvalidInput.at(
            pointer,
            "use 1 to 200 characters of A-Z a-z 0-9 . _ : @ - (no slash or blank; not `.` or `..`)",
            code="invalid_name",
        )
    return value


def check_thread(value: str, pointer: str) -> str:
    """Return a thread name that a platform may choose.

    `unthreaded` (D43) and the threads of imports are reserved.
    """
    if value == UNTHREADED:
        raise InvalidInput.at(
            pointer,
            "'unthreaded' is reserved for turns without a thread: leave thread_id out instead",
            code="reserved_name",
        )
    if value.startswith(IMPORT_THREADS):
        raise InvalidInput.at(
            pointer,
            f"names that begin with '{IMPORT_THREADS}' are reserved for the text of imports",
            code="reserved_name",
        )
    return check_name(value, pointer)
