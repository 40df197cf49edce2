"""What an event's loose words mean: its type, the shape of its time, how critical it is.

Plain table look-ups (D13); nothing here reads a model's mind or the text of a conversation
beyond an allergy said in so many words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from shared.domain.events import Criticality, EventType

_TYPES: Final[Mapping[EventType, str]] = {
    EventType.RELEASE: "发布 版本发布 release released",
    EventType.DECISION: "决定 决策 decision",
    EventType.TASK_COMPLETED: "完成 任务完成 taskcompleted completed",
    EventType.PLAN: "计划 plan planned",
    EventType.CHANGE: "变更 修改 change",
    EventType.CANCELLATION: "取消 cancellation cancelled canceled",
    EventType.INCIDENT: "故障 incident",
    EventType.MEETING: "会议 meeting",
    EventType.COLLABORATION: "协作 collaboration",
    EventType.MIGRATION: "迁移 migration",
}
_TYPE_OF_WORD: Final = {word: kind for kind, words in _TYPES.items() for word in words.split()}

_CATEGORIES: Final[Mapping[Criticality, str]] = {
    Criticality.PREFERENCE: "preference preferences diet dietary 偏好 喜好 饮食",
    Criticality.IDENTITY: "identity 身份",
    Criticality.SAFETY: (
        "safety allergy allergies allergic health medical medication medicine medicalcondition "
        "healthcondition emergency emergencycontact 安全 过敏 健康 医疗 用药 疾病 紧急"
    ),
}
_CRITICALITY_OF_WORD: Final = {
    word: level for level, words in _CATEGORIES.items() for word in words.split()
}
_RANK: Final = {level: rank for rank, level in enumerate(Criticality)}

_TIME_STRINGS: Final = frozenset(
    [
        "mentionedAt",
        "happenedStart",
        "happenedEnd",
        "originalText",
        "precision",
        "basis",
        "status",
        "eventType",
        "threadId",
        "sameEventId",
    ]
)
_TIME_LISTS: Final = frozenset(
    [
        "participants",
        "participantNodeIds",
        "beforeEventIds",
        "afterEventIds",
        "supersedesEventIds",
        "conflictsWithEventIds",
        "relatedEventIds",
    ]
)

_SEPARATORS = re.compile(r"[\s_-]+")
_ALLERGY = re.compile(
    r"\b(?:is|are|am|i'm|he's|she's|be|severely|highly|deathly|also)\s+(?:\w+\s+)?allergic to\b"
    r"|\bha(?:s|ve)\s+(?:an?\s+)?(?:[\w-]+\s+){0,3}allerg(?:y|ies)\b"
    r"|\b(?:my|his|her|their|our|\w+'s)\s+(?:[\w-]+\s+){0,3}allerg(?:y|ies)\s+to\b"
    r"|\banaphyla\w+|对[^。，！？,.!?]{1,20}过敏",
    re.IGNORECASE,
)
_NO_ALLERGY = re.compile(
    r"\b(?:not|no longer|never|isn't|aren't)\s+(?:\w+\s+){0,2}allergic"
    r"|\bno\s+(?:[\w-]+\s+){0,3}allerg"
    r"|(?:n't|\bnot|\bnever)\s+(?:have|had|got)\s+(?:[\w-]+\s+){0,4}allerg(?:y|ies)"
    r"|(?:不|没有?|并不)(?:会|再)?(?:对[^。，！？,.!?对因]{1,12}|[^。，对因吃喝碰用能]{0,8})过敏",
    re.IGNORECASE,
)


def event_type_of(value: object) -> EventType:
    """Return the type a word stands for; anything that is not in the table is `other`."""
    return _TYPE_OF_WORD.get(_word(value), EventType.OTHER)


def criticality_of_category(category: str | None) -> Criticality:
    """Return the least criticality a category demands; unknown ones demand nothing."""
    return _CRITICALITY_OF_WORD.get(_word(category), Criticality.ROUTINE)


def raised(proposed: Criticality, category: str | None) -> Criticality:
    """Return the proposed criticality, raised to what the category demands, never lowered."""
    return higher(proposed, criticality_of_category(category))


def higher(one: Criticality, other: Criticality) -> Criticality:
    """Return the more critical of two."""
    return max(one, other, key=lambda level: _RANK[level])


def states_allergy(text: str) -> bool:
    """Tell whether a text says in so many words that somebody has an allergy.

    One that is denied beside one that is stated takes nothing away from that.
    """
    folded = unicodedata.normalize("NFKC", text).replace("’", "'")
    return _ALLERGY.search(_NO_ALLERGY.sub(" ", folded)) is not None


def temporal_shape(value: object) -> dict[str, object]:
    """Return a copy of a temporal object without the fields that have the wrong JSON type.

    Strings that are no strings go, lists go whole unless every element is a string; blank
    strings, unknown words and unknown keys stay. What is no object gives an empty one.
    """
    if not isinstance(value, Mapping):
        return {}
    return {str(key): item for key, item in value.items() if _fits(str(key), item)}


def _fits(key: str, item: object) -> bool:
    if key in _TIME_STRINGS:
        return isinstance(item, str)
    if key in _TIME_LISTS:
        return isinstance(item, list) and all(isinstance(part, str) for part in item)
    return True


def _word(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return _SEPARATORS.sub("", unicodedata.normalize("NFKC", value).lower())
