"""What tools report: an assistant's sentence counts where the trace beside it bears it out."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.events import Criticality, EventType
from shared.domain.json_text import compact_json
from shared.domain.provenance import is_evidence
from shared.domain.turns import Message, Role
from workers.models.rules.kinds import Rule, Statement
from workers.models.rules.sentences import sentences_of
from workers.models.rules.small_talk import is_small_talk
from workers.models.rules.speakers import Cast

_FAILED: Final = re.compile(
    r"\b(?:fail\w*|errors?|broken|crash\w*|timed? ?out)\b|失败|报错|错误", re.IGNORECASE
)
_TOKEN: Final = re.compile(r"[A-Za-z_][\w-]{2,}|\d+(?:\.\d+)*|[\u3400-\u9fff]{2}")
_SHARED: Final = 2
_REPORT: Final = Rule("report", _FAILED, EventType.INCIDENT, strength=3, status="occurred")


def tool_statements(message: Message, cast: Cast) -> list[Statement]:
    """Return sentences of an assistant about a failure that its own tool results contain."""
    if message.role is not Role.ASSISTANT or not message.tool_calls or not is_evidence(message):
        return []
    if cast.may_tell(message):
        return []
    results = [call.get("result") for call in message.tool_calls]
    shown = " ".join(
        compact_json(one) if not isinstance(one, str) else one for one in results if one
    )
    borne = {word.lower() for word in _TOKEN.findall(shown)}
    return [
        Statement(
            sentence=sentence,
            quote=sentence.text,
            told=f"A tool reported: {sentence.text}",
            rule=_REPORT,
            strength=_REPORT.strength,
            speaker=None,
            category=None,
            criticality=Criticality.ROUTINE,
            is_first_person=False,
        )
        for sentence in sentences_of(message)
        if not sentence.is_question
        and not is_small_talk(sentence)
        and _REPORT.matches(sentence.text)
        and len({word.lower() for word in _TOKEN.findall(sentence.text)} & borne) >= _SHARED
    ]
