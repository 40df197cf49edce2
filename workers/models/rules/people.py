"""Which names of a text are people: by their kin, their company, or what they do in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from workers.models.rules.naming import names_in

KIN: Final = (
    r"sister|brother|mother|father|mom|mum|dad|wife|husband|son|daughter"
    r"|grandmother|grandfather|grandma|grandpa|aunt"
    r"|uncle|cousin|niece|nephew|partner|girlfriend|boyfriend|friend|best"
    r" friend|colleague|coworker|boss|manager|neighbou?r"
    r"|teacher|doctor|mentor|roommate"
)
_ACTS: Final = re.compile(
    r"^\s+(?:(?:also|just|never|always|recently|finally)\s+)*(?:works?"
    r"|worked|leads?|led|joined|joins|will present|will join"
    r"|will (?:visit|come|lead|take|start|help|bring|meet|talk|speak)"
    r"|visits?|visited|found|said|told|likes?|loves?|prefers?|hates?"
    r"|enjoys?|is (?:visiting|coming|moving|leaving|joining|allergic"
    r"|vegetarian|a|an|my|our|the (?:lead|manager|owner))|lives|moved"
    r"|studies|studied|teaches|plays|plans|wants|bought|took over|takes over"
    r"|quit|left|invited|asked|helped|met|fixed|finished"
    r"|wrote|agreed|suggested|started)\b"
)
_BY_COMPANY: Final = re.compile(
    rf"\b(?:with|met|meet|meeting|invited|asked|told|thanks to|hired|call|"
    rf"(?:{KIN}),?|named|and)\s+$",
    re.IGNORECASE,
)
_OF_KIN: Final = re.compile(
    r"\b(?:kids|children|sons|daughters|sisters|brothers|friends|colleagues|parents)"
    r"(?:\s+are)?[,:]?\s+(?:[A-Z]\w+(?:,\s+|\s+and\s+))*$"
)
_NO_PERSON: Final = re.compile(
    r"\b(?:Institute|University|College|School|Museum|Bank|Inc|Ltd|GmbH|Corp"
    r"|Company|Hospital|Library|Park|Street|Road|Center"
    r"|Centre|Team|Project|Server|Cloud|Studio|Shop|Store|Cafe|Café|Church"
    r"|Club|Hotel|Restaurant|Lake|Mount|River|City|County"
    r"|Island|Beach|Festival|Award|Day|Christmas|Easter)\b|\d"
)
_AS_THING: Final = re.compile(
    r"\b(?:the|project|of|in|at|on|to|from|called|using|use|uses|into|through)\s+$", re.IGNORECASE
)
_SURNAMES: Final = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕"
    "苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史"
    "顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
KIN_ZH: Final = (
    r"(?:姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|母亲|父亲|妻子|丈夫|老婆|老公|儿子"
    r"|女儿|奶奶|爷爷|朋友|同事|老板|经理|同学|室友|邻居|老师|医生)"
)
_DOES_ZH: Final = (
    r"(?=是|在|说|将|会|要|负责|加入|来|去|和|喜欢|对|接手|接管|也|今天|昨天|明天|下周|住|叫)"
)
_NAME_ZH: Final = re.compile(
    rf"(?:{KIN_ZH}(?:叫)?(?P<kin>[{_SURNAMES}小阿老][\u4e00-\u9fff]{{1,2}}?){_DOES_ZH})"
    rf"|(?:^|[，。,、和跟与由请])(?P<sole>"
    rf"(?:[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?"
    rf"|[小老阿][{_SURNAMES}明红强丽芳]))"
    rf"(?=是|在|说|将|会|要|负责|加入|来|去|喜欢|对|接手|接管|住|一起|见面|开会)"
)


def people_in(text: str, known: Iterable[str] = ()) -> list[str]:
    """Return the names in a text that its words treat as people, in order."""
    found = [name for name in names_in(text, known) if _is_person(name, text)]
    return list(dict.fromkeys([*found, *chinese_people_in(text)]))


def chinese_people_in(text: str) -> list[str]:
    """Return Chinese personal names: after a word of kin, or a surname before a verb."""
    return [match["kin"] or match["sole"] for match in _NAME_ZH.finditer(text)]


def _is_person(name: str, text: str) -> bool:
    if _NO_PERSON.search(name) or name.isupper():
        return False
    for match in re.finditer(rf"\b{re.escape(name)}\b", text):
        before, after = text[: match.start()], text[match.end() :]
        if _AS_THING.search(before):
            continue
        if _ACTS.match(after) or _BY_COMPANY.search(before) or _OF_KIN.search(before):
            return True
        if after[:2] in ("'s", "’s") and not before.strip():
            return True
    return False
