"""What code notices about cited evidence and tells beside an assessment, never overruling it.

Silent without a question where a question is needed (D24, D34).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from shared.domain.questions import asks_when, contains_term, named_terms
from shared.domain.ranking.unanswerable import Doubt


class AdvisoryCode(StrEnum):
    """The things code can notice."""

    NO_DERIVABLE_DATE = "no_derivable_date"
    TERM_NOT_CITED = "term_not_cited"
    CITED_SUPERSEDED = "cited_superseded"
    CITED_CONFLICT = "cited_conflict"
    EVIDENCE_PENDING = "evidence_pending"
    NO_NEW_REFS = "no_new_refs"
    LIKELY_UNANSWERABLE = "likely_unanswerable"


@dataclass(frozen=True, slots=True)
class CitedItem:
    """One accepted piece of evidence, as the advisories need it.

    `text` is all that the reader saw of it, participants and dates included; `has_date` says
    that a happened time could be derived; `status` is the event's or record's status, if any.
    """

    ref: str
    text: str
    has_date: bool
    status: str | None = None
    in_conflict: bool = False


@dataclass(frozen=True, slots=True)
class Advisory:
    """One notice: a stable code, a sentence, and the refs or terms it is about."""

    code: AdvisoryCode
    message: str
    refs: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()


def advise(
    question: str | None,
    cited: Sequence[CitedItem],
    *,
    pending_blocks: int,
    batch_refs: Collection[str],
    recent_batches: Sequence[Collection[str]],
    doubt: Doubt | None = None,
) -> tuple[Advisory, ...]:
    """Return the notices on an assessment, in a fixed order.

    `question` is the assessment's own, else the thread's last query, else None (D34).
    `recent_batches` holds the refs of the thread's batches before this one, newest first; the
    three newest count. `pending_blocks` counts blocks whose evidence is still being derived.
    `doubt` is what all source messages say of the question, None where that was not looked at.
    """
    found: list[Advisory] = []
    if question and cited:
        found += _about_question(question, cited)
    if question and doubt is not None and doubt.is_likely_unanswerable:
        found.append(_doubtful(doubt))
    found += _about_status(cited)
    if pending_blocks > 0:
        found.append(
            Advisory(
                AdvisoryCode.EVIDENCE_PENDING,
                f"{pending_blocks} block(s) are still being processed; "
                "what they hold may not be found as events or graph yet.",
            )
        )
    known = {ref for batch in recent_batches[:3] for ref in batch}
    if recent_batches and not set(batch_refs) - known:
        found.append(
            Advisory(
                AdvisoryCode.NO_NEW_REFS,
                "This batch adds nothing to the last batches: "
                "change strategy, expand an item or search raw memory.",
            )
        )
    return tuple(found)


def _about_question(question: str, cited: Sequence[CitedItem]) -> list[Advisory]:
    found: list[Advisory] = []
    if asks_when(question) and not any(item.has_date for item in cited):
        found.append(
            Advisory(
                AdvisoryCode.NO_DERIVABLE_DATE,
                "The question asks when, and no cited item has a date that can be derived.",
                refs=_refs(cited),
            )
        )
    texts = [item.text for item in cited]
    absent = tuple(term for term in named_terms(question) if not contains_term(texts, term))
    if absent:
        found.append(
            Advisory(
                AdvisoryCode.TERM_NOT_CITED,
                "No cited item contains these words of the question: " + ", ".join(absent),
                terms=absent,
            )
        )
    return found


def _doubtful(doubt: Doubt) -> Advisory:
    reasons: list[str] = []
    if doubt.margin < 0:
        reasons.append("the best match was said by somebody else than the one asked about")
    if doubt.missing:
        reasons.append("no match holds " + ", ".join(doubt.missing))
    if doubt.is_other_time:
        reasons.append("no match was said in or right after the time asked for")
    because = "; ".join(reasons) or "nothing matches"
    return Advisory(
        AdvisoryCode.LIKELY_UNANSWERABLE,
        f"Memory may not hold an answer: {because}. Check who and when before answering.",
        terms=doubt.missing,
    )


def _about_status(cited: Sequence[CitedItem]) -> list[Advisory]:
    superseded = _refs(item for item in cited if item.status == "superseded")
    disputed = _refs(item for item in cited if item.in_conflict or item.status == "disputed")
    found: list[Advisory] = []
    if superseded:
        found.append(
            Advisory(
                AdvisoryCode.CITED_SUPERSEDED,
                "A cited item was superseded later: it says what held then, not what holds now.",
                refs=superseded,
            )
        )
    if disputed:
        found.append(
            Advisory(
                AdvisoryCode.CITED_CONFLICT,
                "A cited item is in an open conflict: tell both sides or ask.",
                refs=disputed,
            )
        )
    return found


def _refs(items: Iterable[CitedItem]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.ref for item in items))
