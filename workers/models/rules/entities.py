"""What kind of thing a name is: told by its words, its neighbours and what the graph knows."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.graph import NodeType
from workers.models.rules.graph_book import USER, Book
from workers.models.rules.naming import names_in

_ORGANIZATION: Final = re.compile(
    r"\b(?:Institute|University|College|School|Bank|Inc|Ltd|GmbH|Corp"
    r"|Company|Hospital|Church|Foundation|Agency|Dash|Ministry"
    r"|Department|Association|Studio|Labs?)\b|(?:公司|大学|学院|银行|医院|集团|研究所|部门|学校)$"
)
_PLACE: Final = re.compile(
    r"\b(?:Museum|Park|Street|Road|Lake|Mount|River|City|County|Island|Beach"
    r"|Library|Cafe|Café|Restaurant|Hotel|Station|Airport"
    r"|Harbour|Parkway|Mountains?|Forest|Square|Bridge|Zoo|Garden)\b|(?:市"
    r"|省|县|路|街|公园|博物馆|图书馆|机场|车站|酒店|餐厅|楼|湖|山|岛)$"
)
_ROOM: Final = re.compile(
    r"\b(?:rooms?|office|kitchen|building|house|flat|apartment|shop|store"
    r"|studio|garage|garden|warehouse|lab|hall|desk|entrance"
    r"|shed|cabin|school|library|canteen|gym)$|(?:室|厅|楼|店|家|仓库|厨房"
    r"|办公室|食堂|车库|宿舍|房间)$",
    re.IGNORECASE,
)
_TOOL_KEYS: Final = re.compile(
    r"\b(?:database|language|framework|package manager|editor|queue|server"
    r"|broker|library|linter|tool|cloud|browser|os|engine"
    r"|build system|model|stack)$|(?:数据库|语言|框架|包管理器|编辑器|工具|服务器)$",
    re.IGNORECASE,
)
_THE_USER: Final = re.compile(
    r"^(?:the user(?: and others)?|user|用户(?:一方)?|they|she|he|it)$", re.IGNORECASE
)


def kind_of_name(name: str, text: str, book: Book) -> NodeType | None:
    """Return the type of a capitalised name in a text; None where nothing tells it."""
    known = book.known_type(name)
    if known is not None:
        return known
    if _ORGANIZATION.search(name):
        return NodeType.ORGANIZATION
    if _PLACE.search(name):
        return NodeType.PLACE
    spelled = re.escape(name)
    if re.search(
        rf"\bproject\s+{spelled}\b|\b{spelled}\s+(?:project|team|app|platform)\b"
        rf"|{spelled}项目|项目{spelled}",
        text,
        re.IGNORECASE,
    ):
        return NodeType.PROJECT
    if re.search(
        rf"\b(?:visit(?:ed|ing|s)?|went to|trip to|travel\w* to|flew to|moved to"
        rf"|lives? in|been to|in)\s+(?:the\s+)?{spelled}\b",
        text,
    ):
        return NodeType.PLACE
    return None


def kind_of_thing(noun: str) -> NodeType:
    """Return the type of a definite thing without a name of its own."""
    return NodeType.PLACE if _ROOM.search(noun.strip()) else NodeType.TOOL


def is_tool_key(key: str) -> bool:
    """Tell whether the values of a property are tools."""
    return _TOOL_KEYS.search(key.strip()) is not None


def subject_name(text: str, participants: tuple[str, ...]) -> str | None:
    """Return who a subject phrase is: the user, a participant, or the name in it."""
    subject = re.sub(r"['’]s$", "", text.strip(" ,.，。"))
    subject = re.sub(
        r"^(?:yesterday|today|recently|now|then|and|that)\s+", "", subject, flags=re.IGNORECASE
    )
    subject = re.sub(r"\s+and others$", "", subject)
    if re.fullmatch(r"(?:the )?user|用户(?:一方)?", subject, re.IGNORECASE):
        return USER
    if subject in participants:
        return subject
    if _THE_USER.fullmatch(subject):
        return None
    names = names_in(f"x {subject}")
    return names[-1] if names and subject.endswith(names[-1]) else None
