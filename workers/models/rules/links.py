"""Links to earlier events, on explicit grounds only: corrected, replaced, cancelled, said again.

Only events of the offered timeline are named, and only those that still hold. Texts that are
merely alike are never linked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.events import normalised
from workers.models.inputs import TimelineItem
from workers.models.rules.frames import Frame, frame_of, terms
from workers.models.rules.kinds import Group, Statement, Turn

_FROM_TO: Final = (
    re.compile(
        r"\b(?:switch|migrat|mov|chang|convert|upgrad"
        r"|renam)\w*\b.{0,40}?\bfrom\s+(?P<old>[\w.@'/ +#-]+?)\s+"
        r"(?:over\s+)?to\s+(?P<new>[\w.@'/+#-]+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\breplac(?:ed|es|ing|e)\s+(?P<old>[\w.@'/ +#-]+?)\s+(?:with|by)\s+(?P<new>[\w.@'/+#-]+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:us(?:es|ing|e)|prefers?|with)\s+"
        r"(?P<new>[\w.@'/+#-]+)\s+instead\s+of\s+(?P<old>[\w.@'/+#-]+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bstopped\s+(?:using|eating|drinking)\s+(?P<old>[\w.@'/+#-]+)(?P<new>)", re.IGNORECASE
    ),
    re.compile(
        r"从(?P<old>[^，。,\s]{1,20}?)(?:换成|改成|改用|换到|切换到|迁移到|改为"
        r"|升级到)了?(?P<new>[^，。,\s]{1,20})"
    ),
    re.compile(
        r"(?:把|将)(?P<old>[^，。,\s]{1,20}?)(?:换成|改成|替换为|替换成|改为)了?"
        r"(?P<new>[^，。,\s]{1,20})"
    ),
    re.compile(r"用(?P<new>[^，。,\s]{1,20}?)(?:代替|取代|替换)了?(?P<old>[^，。,\s]{1,20})"),
)
_USING: Final = re.compile(
    r"\b(?:us(?:e[sd]?|ing)|decided|chose|chosen|picked|switched|moved"
    r"|prefers?|likes?|with|on|runs?|is)\b|用|选|采用|换",
    re.IGNORECASE,
)
_OFF: Final = re.compile(
    r"^(?P<what>.{2,80}?)\s+(?:is|are|was|were|has been|have been|got|will"
    r" be)\s+(?:now\s+)?(?:off|cancell?ed|called off|scrapped"
    r"|dropped|abandoned|postponed|delayed|rescheduled|deferred|pushed|moved|put off)\b",
    re.IGNORECASE,
)
_OFF_VERB: Final = re.compile(
    r"\b(?:cancell?ed|called off|postponed|rescheduled|delayed|deferred"
    r"|pushed back|put off|scrapped|(?:decided|agreed) not to"
    r"|no longer (?:going to|planning to|plans? to)|gave up(?: on)?)\s+"
    r"(?P<what>[^,.;]{2,80}?)(?:\s+(?:to|until|till|by)\s|$|[,.;])",
    re.IGNORECASE,
)
_OFF_ZH: Final = re.compile(
    r"(?P<what>[^，。,]{2,20}?)(?:被|已经|都|也)?(?:取消|推迟|延期|延后|改期"
    r"|改到|顺延|推后|作罢|不办了|不去了|不做了|不开了|泡汤)"
    r"|(?:取消|推迟|放弃)了?(?P<what2>[^，。,]{2,20})"
)
_ENDED: Final = re.compile(
    r"^(?P<who>.{2,50}?)\s+(?:(?:is|does|do)\s+)?(?:no longer|not|n't)\s+"
    r"(?P<what>[^,.;]{2,80}?)(?:\s+any\s?more)?(?:[,.;]|$)",
    re.IGNORECASE,
)
_PLANNED: Final = frozenset({"planned", "ongoing"})
_INTENT: Final = re.compile(
    r"\b(?:plans?|planned|planning|will|going to|wants? to|hopes?|intends?"
    r"|scheduled|meeting|appointment|next)\b|计划|打算|准备|将|要|下周|决定"
    r"|开会",
    re.IGNORECASE,
)
_LASTING: Final = frozenset({"ongoing", "unknown"})
_USUAL: Final = terms("use work live eat drink go do")
_COVERED: Final = 0.5
_ALIKE: Final = 2


@dataclass(frozen=True, slots=True)
class Links:
    """Ids of the timeline that a new event refers to."""

    supersedes: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    same: str | None = None


def links_of(group: Group, timeline: Sequence[TimelineItem]) -> Links:
    """Return the links of a new event to the offered ones, each on explicit words."""
    current = [item for item in timeline if item.status == "active"]
    replaced: dict[str, None] = {}
    conflicts: dict[str, None] = {}
    related: dict[str, None] = {}
    for statement in group.members:
        found = _replaced(statement, current)
        replaced.update(dict.fromkeys(found))
        if not found:
            conflicts.update(dict.fromkeys(_conflicting(statement, current)))
        if statement.rule.turn is Turn.COMPLETES:
            related.update(dict.fromkeys(_fulfilled(statement, current)))
    same = None if replaced else _same(group.lead, current)
    taken = {*replaced, *([same] if same else [])}
    return Links(
        supersedes=tuple(replaced),
        conflicts=tuple(one for one in conflicts if one not in taken),
        related=tuple(one for one in related if one not in taken),
        same=same,
    )


def _replaced(statement: Statement, current: Sequence[TimelineItem]) -> list[str]:
    match statement.rule.turn:
        case Turn.CORRECTS:
            return _by_frame(statement, current) or _most_alike(statement, current)
        case Turn.REPLACES:
            return _by_frame(statement, current) or _by_old_value(statement, current)
        case Turn.CANCELS | Turn.POSTPONES:
            return _by_intent(statement, current)
        case Turn.ENDS:
            return _by_ending(statement, current)
    if "不再" in statement.told:
        return _by_ending(statement, current)
    if re.search(r"\bnow\b|现在|如今", statement.told):
        return _by_frame(statement, current)
    return []


def _by_frame(statement: Statement, current: Sequence[TimelineItem]) -> list[str]:
    """Find what has another value for the same property of the same subject."""
    frame = frame_of(statement.told)
    if frame is None:
        return []
    rivals = [(item, other) for item in current if (other := _frame(item)) and frame.meets(other)]
    return [item.event_id for item, other in rivals if not frame.agrees(other)]


def _by_old_value(statement: Statement, current: Sequence[TimelineItem]) -> list[str]:
    """Find what says that the old value of "from X to Y" is in use, by the same subject."""
    match = next((m for one in _FROM_TO if (m := one.search(statement.told))), None)
    if match is None:
        return []
    old, new = terms(match["old"]), terms(match["new"] or "")
    subject = terms(statement.told[: match.start()]) - old - new
    found = []
    for item in current:
        text = f"{item.title}. {item.summary}"
        held = terms(text)
        if not old or not old <= held or (new and new <= held) or not _USING.search(text):
            continue
        if not subject or subject & held or _is_of_the_speaker(statement, text):
            found.append(item.event_id)
    return found


def _is_of_the_speaker(statement: Statement, text: str) -> bool:
    who = statement.speaker or ("用户" if statement.sentence.is_chinese else "user")
    return statement.is_first_person and who.lower() in text.lower()


def _by_intent(statement: Statement, current: Sequence[TimelineItem]) -> list[str]:
    """Find the plan that a cancellation or postponement names by its words."""
    named = _what_is_off(statement.told)
    wanted = terms(named) if named else terms(statement.told)
    scored: list[tuple[float, str]] = []
    for item in current:
        text = f"{item.title}. {item.summary}"
        if item.time.status not in _PLANNED and not _INTENT.search(text):
            continue
        shared = wanted & terms(text)
        if shared and len(shared) >= _COVERED * len(wanted):
            scored.append((len(shared) / len(wanted), item.event_id))
    best = max((score for score, _ in scored), default=0.0)
    return [event_id for score, event_id in scored if score == best]


def _what_is_off(text: str) -> str:
    for pattern in (_OFF, _OFF_VERB):
        match = pattern.search(text)
        if match and terms(match["what"]):
            return match["what"]
    match = _OFF_ZH.search(text)
    return (match["what"] or match["what2"] or "") if match else ""


def _by_ending(statement: Statement, current: Sequence[TimelineItem]) -> list[str]:
    match = _ENDED.search(statement.told)
    wanted = terms(match["what"] if match else statement.told)
    wanted = (wanted - _USUAL) or wanted
    who = statement.speaker or "user"
    return [
        item.event_id
        for item in current
        if wanted
        and wanted <= terms(f"{item.title}. {item.summary}")
        and (not statement.is_first_person or who.lower() in item.summary.lower())
        and not re.search(r"\bno longer\b|不再", item.summary)
    ]


def _most_alike(statement: Statement, current: Sequence[TimelineItem]) -> list[str]:
    """Find the one statement that a correction without a plain frame repeats most of."""
    wanted = terms(statement.told)
    scored = [(len(wanted & terms(f"{item.title}. {item.summary}")), item) for item in current]
    best = max((score for score, _ in scored), default=0)
    if best < _ALIKE or best < _COVERED * len(wanted):
        return []
    found = [item for score, item in scored if score == best]
    return [found[0].event_id] if len(found) == 1 else []


def _conflicting(statement: Statement, current: Sequence[TimelineItem]) -> list[str]:
    frame = frame_of(statement.told)
    if frame is None or not frame.is_exclusive or statement.rule.turn is not Turn.NONE:
        return []
    rivals = [(item, other) for item in current if (other := _frame(item)) and frame.meets(other)]
    return [item.event_id for item, other in rivals if not frame.agrees(other)]


def _fulfilled(statement: Statement, current: Sequence[TimelineItem]) -> list[str]:
    wanted = terms(statement.told)
    return [
        item.event_id
        for item in current
        if item.time.status == "planned"
        and len(wanted & terms(f"{item.title}. {item.summary}"))
        >= max(_ALIKE, _COVERED * len(wanted))
    ]


def _same(statement: Statement, current: Sequence[TimelineItem]) -> str | None:
    """Find the lasting statement that says the same: once more is no second event (D15)."""
    if statement.rule.status not in _LASTING:
        return None
    frame = frame_of(statement.told)
    wanted = normalised(statement.told).rstrip(".。!！")
    for item in current:
        other = _frame(item)
        if frame and other and frame.meets(other) and frame.agrees(other):
            return item.event_id
        said = normalised(item.summary).rstrip(".。!！")
        if statement.rule.status == "ongoing" and said == wanted:
            return item.event_id
    return None


def _frame(item: TimelineItem) -> Frame | None:
    return frame_of(item.summary)
