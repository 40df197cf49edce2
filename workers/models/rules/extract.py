"""Events of one block by rule: one a statement, with its verbatim sentence and its message.

What is told in passing joins the statement before it in the same message, so that a message
rarely gives more than one event.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from shared.domain.events import Criticality, EventType
from shared.domain.temporal import TimeExpression, resolve
from shared.domain.turns import Message
from workers.models.inputs import ExtractInput
from workers.models.rules.block_reading import statements_in
from workers.models.rules.kinds import STRONG, Group, Statement
from workers.models.rules.links import Links, links_of
from workers.models.rules.naming import names_in, title_of, topics_of
from workers.models.rules.people import people_in
from workers.models.rules.speakers import Cast, cast_of

_SUMMARY: Final = 900
_MEMBERS: Final = 4
_PROJECT: Final = re.compile(
    r"\b(?:we|our|team|project|release|server|staging|production|deploy\w*"
    r"|tests?|suite|build|repo\w*|branch|commits?"
    r"|database|package|pipeline|ci|api|code|prototype|sprint|client"
    r"|customer|supplier)\b|项目|团队|服务器|版本|代码|供应商|会议|我们",
    re.IGNORECASE,
)
_FOR_NOW: Final = re.compile(
    r"\b(?:for now|just this once|this time only|for this (?:chat|session"
    r"|conversation|answer))\b|这次|暂时|本次",
    re.IGNORECASE,
)


def extract(material: ExtractInput) -> Mapping[str, object]:
    """Return the extractor's reply; without a statement it is an explicit valid-empty."""
    cast = cast_of(material.messages)
    allowed = set(material.allowed_source_message_ids)
    messages = [message for message in material.messages if message.id in allowed]
    # By the object, for a long message comes as several with one id and places of their own.
    found: dict[int, list[Statement]] = {}
    for statement in statements_in(messages, cast):
        found.setdefault(id(statement.sentence.message), []).append(statement)
    groups: list[Group] = []
    for said in found.values():
        groups += grouped(said, _times(said[0].sentence.message, material.zone))
    known = _known_names(material, groups)
    events = [_event(group, material, cast, known=known) for group in groups]
    if not events:
        return {"shouldExtract": False, "reason": "no lasting statement of a person", "events": []}
    reason = f"{len(events)} statements by rule"
    return {"shouldExtract": True, "reason": reason, "events": events}


def grouped(found: Sequence[Statement], times: Sequence[TimeExpression]) -> list[Group]:
    """Gather a message's statements: strong and dated ones stand alone, others go with them."""
    groups: list[Group] = []
    for statement in found:
        is_dated = any(one.start is not None for one in _within(statement, times))
        stands = statement.strength >= STRONG or is_dated
        last = groups[-1] if groups else None
        if last is None:
            groups.append(Group(statement, times, [statement]))
        elif _is_weak(last) and len(last.members) < _MEMBERS:
            last.members.append(statement)
            if stands or statement.strength > last.lead.strength:
                last.lead = statement
        elif stands or len(last.members) >= _MEMBERS:
            groups.append(Group(statement, times, [statement]))
        else:
            last.members.append(statement)
    return groups


def _is_weak(group: Group) -> bool:
    dated = any(
        one.start is not None for member in group.members for one in _within(member, group.times)
    )
    return not dated and all(member.strength < STRONG for member in group.members)


def _event(
    group: Group,
    material: ExtractInput,
    cast: Cast,
    *,
    known: Sequence[str],
) -> dict[str, Any]:
    lead = group.lead
    message = lead.sentence.message
    summary = _summary(group)
    time = _time(group)
    links = links_of(group, material.timeline) if material.timeline else Links()
    criticality = max((one.criticality for one in group.members), key=list(Criticality).index)
    category = next((one.category for one in group.members if one.criticality is criticality), None)
    is_believed = lead.speaker is not None or not re.search(r"\buser\b|用户", summary)
    if message.role.value == "assistant" and not is_believed:
        criticality, category = Criticality.ROUTINE, None
    return {
        "title": title_of(lead.told, 80),
        "summary": summary,
        "narrative": None,
        "tags": topics_of([one.told for one in group.members], limit=4, skip=cast.names),
        "quotes": [{"messageId": message.id, "text": one.quote} for one in group.members],
        "sourceMessageIds": [message.id],
        "scope": _scope(group, cast),
        "criticality": criticality.value,
        "category": category,
        "temporal": {
            **time,
            "eventType": _event_type(group).value,
            "participants": _participants(group, summary, cast, known),
            "sameEventId": links.same,
            "supersedesEventIds": list(links.supersedes),
            "conflictsWithEventIds": list(links.conflicts),
            "beforeEventIds": [],
            "afterEventIds": [],
            "relatedEventIds": list(links.related),
        },
    }


def _event_type(group: Group) -> EventType:
    return group.lead.rule.event_type


def _summary(group: Group) -> str:
    texts = [_closed(one.told) for one in group.members]
    image = next((one.image for one in group.members if one.image), None)
    if image and image not in texts[-1]:
        texts.append(f"[image: {image}]")
    separator = "" if group.lead.sentence.is_chinese else " "
    return separator.join(dict.fromkeys(texts))[:_SUMMARY].strip()


def _closed(text: str) -> str:
    if text[-1:] in ".!?。！？…":
        return text
    return f"{text}。" if re.search(r"[\u3400-\u9fff]$", text) else f"{text}."


def _time(group: Group) -> dict[str, Any]:
    """Return the temporal claim: words and dates as the resolver has them, never our own."""
    found = _within(group.lead, group.times)
    if not any(one.start is not None for one in found):
        found += [one for member in group.members for one in _within(member, group.times)]
    chosen = next((one for one in found if one.start is not None), found[0] if found else None)
    status = group.lead.rule.status
    if chosen is None:
        return {**_NO_TIME, "status": status}
    if status == "planned" and chosen.start is not None and chosen.status.value == "occurred":
        status = "occurred"
    return {
        "happenedStart": _shown(chosen.start),
        "happenedEnd": _shown(chosen.end),
        "originalText": chosen.original_text,
        "precision": chosen.precision.value,
        "basis": chosen.basis.value,
        "status": status if status != "unknown" else chosen.status.value,
    }


_NO_TIME: Final[Mapping[str, Any]] = {
    "happenedStart": None,
    "happenedEnd": None,
    "originalText": None,
    "precision": "unknown",
    "basis": "unknown",
}


def _shown(value: date | datetime | None) -> str | None:
    return value.isoformat() if value is not None else None


def _times(message: Message, zone: str) -> list[TimeExpression]:
    if message.occurred_at is None:
        return []
    return resolve(message.content, message.occurred_at, message.zone or zone)


def _within(statement: Statement, times: Sequence[TimeExpression]) -> list[TimeExpression]:
    start, end = statement.sentence.start, statement.sentence.start + len(statement.quote)
    return [one for one in times if start <= one.span[0] and one.span[1] <= end]


def _scope(group: Group, cast: Cast) -> str:
    text = group.lead.quote
    if _FOR_NOW.search(text):
        return "session"
    if cast.is_between_people or group.lead.criticality is not Criticality.ROUTINE:
        return "user"
    return "project" if _PROJECT.search(text) else "user"


def _participants(group: Group, summary: str, cast: Cast, known: Sequence[str]) -> list[str]:
    speaker = group.lead.speaker
    spoken = [
        name
        for name in cast.names
        if name != speaker and re.search(rf"\b{re.escape(name)}\b", summary)
    ]
    mentioned = [name for one in group.members for name in people_in(one.told, known)]
    meant = [one.meant for one in group.members if one.meant]
    user = [] if speaker or not group.lead.is_first_person else ["User"]
    return list(dict.fromkeys([*([speaker] if speaker else user), *spoken, *meant, *mentioned]))[
        :12
    ]


def _known_names(material: ExtractInput, groups: Sequence[Group]) -> list[str]:
    """Return the names that the block or the events shown beside it spell within a sentence."""
    texts = [one.quote for group in groups for one in group.members]
    texts += [f"{item.title}. {item.summary}" for item in material.timeline]
    return list(dict.fromkeys(name for text in texts for name in names_in(text)))
