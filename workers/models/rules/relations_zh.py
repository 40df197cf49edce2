"""Relations that Chinese statements express, as readings of one sentence each."""

from __future__ import annotations

import re
from typing import Final

from workers.models.rules.people import KIN_ZH
from workers.models.rules.relations_en import Reading

_S: Final = r"(?P<s>[^，。,！!\s]{1,10}?)"
_V: Final = r"(?P<v>[^，。,！!；;\s]{1,24})"
_NOT_DENIED: Final = r"(?<!不)(?<!不会)(?<!不再)(?<!不算)(?<!没)(?<!没有)"
_PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("works_at", re.compile(rf"{_S}(?:现在)?在(?P<v>[^，。,！!\s]{{1,20}}?)(?:工作|上班|任职)")),
    ("lives_in", re.compile(rf"{_S}(?:现在)?(?:住在|搬到了?|搬去了?){_V}")),
    (
        "located",
        re.compile(
            r"(?P<s>[^，。,！!\s用户]{2,10}?)(?:现在|改|搬|挪)?(?:在|到)(?P<v>[^，"
            r"。,！!\s]{1,20}?(?:楼|层|室|区|号|街|路|城|市|边|里|处|厅|栋))(?=$|[，"
            r"。,！!])"
        ),
    ),
    (
        "switched",
        re.compile(
            rf"{_S}(?:已经)?从(?P<old>[^，。,\s]{{1,20}}?)(?:换成|改成|改用|换到"
            rf"|切换到|迁移到|改为|升级到)了?{_V}"
        ),
    ),
    (
        "uses_as",
        re.compile(
            rf"{_S}(?:决定)?(?:用|使用|采用|选用)(?P<v>[^，。,\s]{{1,20}}?)(?:作为|作"
            rf"|做|当)(?P<k>[^，。,\s]{{2,12}})"
        ),
    ),
    ("uses", re.compile(rf"{_S}(?:决定|现在|改)*(?:使用|采用|选用|改用)了?{_V}")),
    (
        "property",
        re.compile(
            rf"(?P<s>[^，。,！!\s]{{1,12}}?)的(?P<k>[^，。,！!\s不]{{2,8}}?)(?<!并非)(?:现在)?"
            rf"(?:是|改为|改成|换成){_V}"
        ),
    ),
    ("called", re.compile(rf"(?P<k>[^，。,！!\s不]{{2,10}}?)(?:叫做?|名为){_V}(?P<s>)")),
    ("member_of", re.compile(rf"{_S}加入了?{_V}")),
    ("takes_over", re.compile(rf"{_S}(?:负责|接手|接管)了?{_V}")),
    (
        "visited",
        re.compile(
            rf"{_S}(?:昨天|上周|上个?月|去年|刚)?(?:去了|去过|到过|参观了)"
            rf"(?P<v>[^，。,！!\s]{{2,12}})"
        ),
    ),
    (
        "allergy",
        re.compile(rf"{_S}{_NOT_DENIED}对(?P<v>[^，。,！!\s]{{1,12}}?){_NOT_DENIED}(?:严重)?过敏"),
    ),
    ("diet", re.compile(rf"{_S}(?P<v>吃素|不吃[^，。,！!\s]{{1,8}}|不喝[^，。,！!\s]{{1,8}})")),
    ("likes", re.compile(rf"{_S}(?P<k>不喜欢|喜欢|偏好|讨厌|热爱|爱吃|爱喝|最爱){_V}")),
    (
        "rule",
        re.compile(
            r"(?P<s>)(?P<v>(?:以后|今后|从现在起|请不要|请别|请始终|请总是)[^，"
            r"。！]{2,30})"
        ),
    ),
    (
        "kin",
        re.compile(
            rf"(?P<s>用户)的?(?P<k>{KIN_ZH})(?:叫)?(?P<v>[\u4e00-\u9fff]{{2,3}}?)"
            rf"(?=是|在|说|将|会|要|来|去|和|喜欢|对|下周|明天|$|[，。])"
        ),
    ),
)


def readings_of(sentence: str) -> list[Reading]:
    """Return the relations of one sentence in the third person, each once."""
    found: dict[Reading, None] = {}
    taken: set[str] = set()
    for name, pattern in _PATTERNS:
        match = pattern.search(sentence)
        # A looser reading of words that a stricter one has taken would say them twice.
        if match is None or (name in ("uses", "property") and taken & {"uses_as", "switched"}):
            continue
        taken.add(name)
        groups = match.groupdict()
        reading = Reading(
            name,
            (groups["s"] or "").strip(),
            groups["v"].strip(),
            (groups.get("k") or "").strip(),
            (groups.get("old") or "").strip(),
        )
        found.setdefault(reading)
    return list(found)
