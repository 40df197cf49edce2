"""The evidence gate: an agent's assessment of a batch made sound, and the use of its evidence.

Any JSON is accepted and normalised, never refused (D24): what cannot be believed becomes the
more careful reading. Evidence is used only after a sufficient assessment of the same batch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar

from shared.domain.json_text import number_text
from shared.domain.spacing import collapse, trim

MAX_REFS: Final = 8
"""The most evidence refs that one assessment accepts."""

MAX_TEXT: Final = 160
"""The most code points of `fit` and of `missing`."""

DEFAULT_MISSING: Final = "Direct evidence required to answer the question is still missing."


_Choice = TypeVar("_Choice", bound=StrEnum)


class Verdict(StrEnum):
    """What a batch is worth for the question."""

    SUFFICIENT = "sufficient"
    PARTIAL = "partial"
    WRONG = "wrong"


class Strategy(StrEnum):
    """What an agent may do next."""

    ANSWER = "answer"
    SEARCH_EVENTS = "search_events"
    EXPAND_EVENT = "expand_event"
    SEARCH_GRAPH = "search_graph"
    EXPAND_GRAPH_NODE = "expand_graph_node"
    SEARCH_ELEMENTS = "search_elements"
    EXPAND_ELEMENT = "expand_element"
    SEARCH_RAW_MEMORY = "search_raw_memory"
    EXPAND_BLOCK = "expand_block"


class Rejection(StrEnum):
    """Why an evidence ref does not count."""

    INVALID_REF = "invalid_ref"
    DUPLICATE = "duplicate"
    NOT_IN_BATCH = "not_in_batch"
    LIMIT_EXCEEDED = "limit_exceeded"
    NOT_ADOPTED = "not_adopted"


_DETAILS: Final[Mapping[Rejection, str]] = {
    Rejection.INVALID_REF: (
        "Evidence refs must be non-empty strings returned by a retrieval batch."
    ),
    Rejection.DUPLICATE: "This ref was already included earlier in the same assessment.",
    Rejection.NOT_IN_BATCH: "This ref was not returned by the selected retrieval batch.",
    Rejection.LIMIT_EXCEEDED: (
        f"At most {MAX_REFS} unique evidence refs can be adopted by one assessment."
    ),
    Rejection.NOT_ADOPTED: "No sufficient assessment of this batch adopted this ref.",
}


@dataclass(frozen=True, slots=True)
class RejectedRef:
    """One ref that does not count: its place in the list as sent, its text, and why."""

    input_index: int
    ref: str
    reason: Rejection

    @property
    def detail(self) -> str:
        """Return the reason in a sentence."""
        return _DETAILS[self.reason]


@dataclass(frozen=True, slots=True)
class Assessment:
    """An assessment after normalisation; `missing` is empty exactly when it is sufficient."""

    verdict: Verdict
    evidence_refs: tuple[str, ...]
    rejected: tuple[RejectedRef, ...]
    fit: str
    missing: str
    next_strategy: Strategy


@dataclass(frozen=True, slots=True)
class UseCheck:
    """The refs that a use may record, repeats apart; with any issue nothing is recorded."""

    refs: tuple[str, ...]
    duplicates: tuple[str, ...]
    issues: tuple[RejectedRef, ...]


def normalise_assessment(raw: Mapping[str, Any], batch_refs: Collection[str]) -> Assessment:
    """Normalise an assessment of the batch that returned `batch_refs`.

    Reads `verdict, evidence_refs, fit, missing, next_strategy` in any JSON type and ignores
    other keys. Sufficient needs the verdict, an accepted ref and the strategy `answer`
    together; otherwise a wrong verdict stays wrong and all else is partial. Normalising the
    result again changes nothing.
    """
    accepted, rejected = _sort_refs(raw.get("evidence_refs"), batch_refs)
    verdict = _member(Verdict, raw.get("verdict"), Verdict.PARTIAL)
    strategy = _member(Strategy, raw.get("next_strategy"), Strategy.SEARCH_EVENTS)
    missing = _bounded(raw.get("missing"))
    may_answer = bool(accepted) and strategy is Strategy.ANSWER
    if verdict is Verdict.SUFFICIENT and may_answer:
        missing = ""
    else:
        verdict = Verdict.WRONG if verdict is Verdict.WRONG else Verdict.PARTIAL
        strategy = Strategy.SEARCH_EVENTS if strategy is Strategy.ANSWER else strategy
        missing = missing or DEFAULT_MISSING
    return Assessment(
        verdict=verdict,
        evidence_refs=accepted,
        rejected=rejected,
        fit=_bounded(raw.get("fit")),
        missing=missing,
        next_strategy=strategy,
    )


def check_use(
    refs: Sequence[object], *, batch_refs: Collection[str], adopted_refs: Collection[str]
) -> UseCheck:
    """Check the refs of a use against its batch; an empty list is always in order.

    `adopted_refs` are those that a sufficient assessment of this batch accepted (D25). Refs
    are trimmed; repeats are reported apart and are no issue.
    """
    accepted: dict[str, None] = {}
    duplicates: dict[str, None] = {}
    issues: list[RejectedRef] = []
    for index, item in enumerate(refs):
        ref = trim(item) if isinstance(item, str) else ""
        if ref in accepted:
            duplicates[ref] = None
            continue
        reason = _use_fault(ref, batch_refs, adopted_refs)
        if reason is None:
            accepted[ref] = None
        else:
            issues.append(RejectedRef(index, ref or _as_text(item), reason))
    return UseCheck(tuple(accepted), tuple(duplicates), tuple(issues))


def _use_fault(
    ref: str, batch_refs: Collection[str], adopted_refs: Collection[str]
) -> Rejection | None:
    if not ref:
        return Rejection.INVALID_REF
    if ref not in batch_refs:
        return Rejection.NOT_IN_BATCH
    return None if ref in adopted_refs else Rejection.NOT_ADOPTED


def _sort_refs(
    value: object, batch_refs: Collection[str]
) -> tuple[tuple[str, ...], tuple[RejectedRef, ...]]:
    items: Iterable[object] = value if isinstance(value, list | tuple) else ()
    offered = frozenset(batch_refs)
    accepted: list[str] = []
    rejected: list[RejectedRef] = []
    seen: set[str] = set()
    for index, item in enumerate(items):
        reason: Rejection | None = None
        if not isinstance(item, str) or not item:
            reason = Rejection.INVALID_REF
        elif item in seen:
            reason = Rejection.DUPLICATE
        elif item not in offered:
            reason = Rejection.NOT_IN_BATCH
        elif len(accepted) >= MAX_REFS:
            reason = Rejection.LIMIT_EXCEEDED
        else:
            accepted.append(item)
        if isinstance(item, str):
            seen.add(item)
        if reason is not None:
            rejected.append(RejectedRef(index, _as_text(item), reason))
    return tuple(accepted), tuple(rejected)


def _member(kind: type[_Choice], value: object, default: _Choice) -> _Choice:
    return next((member for member in kind if member.value == value), default)


def _bounded(value: object) -> str:
    if not isinstance(value, str):
        return ""
    # The cut may fall behind a blank; without the second trim a repeat would shorten again.
    return trim(trim(collapse(value))[:MAX_TEXT])


def _as_text(value: object) -> str:
    """Name a ref of any JSON type in words, for the list of rejections."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool | int | float):
        return number_text(value)
    if isinstance(value, list | tuple):
        return ",".join("" if item is None else _as_text(item) for item in value)
    return "[object Object]"
