"""Chinese rules, the decisive ones first: the first that matches names the kind of a sentence."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.events import Criticality, EventType
from workers.models.rules.kinds import Rule, Turn
from workers.models.rules.voice_zh import is_correction

_CORRECTION: Final = re.compile(
    r"说错了?|搞错了?|弄错了?|记错了?|更正|纠正|^(?:抱歉|对不起)?[，,]?不对[，,]|应该是|其实是"
)

RULES: Final = (
    Rule(
        "allergy",
        re.compile(r"过敏|糖尿病|哮喘|癫痫|心脏病|血型|乳糖不耐|紧急联系人"),
        strength=4,
        status="ongoing",
        category="过敏",
        criticality=Criticality.SAFETY,
        unless=re.compile(
            r"(?:不|没有?|并不)(?:会|再)?(?:对[^。，！？,.!?对因]{1,12}"
            r"|[^。，对因吃喝碰用能]{0,8})过敏"
        ),
    ),
    Rule("correction", _CORRECTION, EventType.CHANGE, strength=4, turn=Turn.CORRECTS),
    Rule(
        "postponement",
        re.compile(r"推迟|延期|延后|改期|改到|顺延|推后"),
        EventType.CHANGE,
        strength=4,
        status="planned",
        turn=Turn.POSTPONES,
    ),
    Rule(
        "cancellation",
        re.compile(r"取消|作罢|不办了|不去了|不做了|不开了|放弃了?|泡汤"),
        EventType.CANCELLATION,
        strength=4,
        status="cancelled",
        turn=Turn.CANCELS,
    ),
    Rule(
        "reminder",
        re.compile(r"^(?:请)?(?:记住|记一下|帮我记|别忘了|提醒我|注意[，,：:])"),
        strength=4,
    ),
    Rule(
        "standing-rule",
        re.compile(r"以后|从现在起|今后|请(?:总是|永远|始终|不要|别|勿)|每次都|一律|都要用|叫我"),
        EventType.DECISION,
        strength=4,
        status="ongoing",
        category="偏好",
        criticality=Criticality.PREFERENCE,
        unless=re.compile(r"(?:年|月|天|周|之|小时|分钟)以后"),
    ),
    Rule(
        "diet",
        re.compile(r"吃素|素食|纯素|不吃|不喝|忌口|戒[烟酒糖]|清真"),
        strength=4,
        status="ongoing",
        category="饮食",
        criticality=Criticality.PREFERENCE,
    ),
    Rule(
        "migration",
        re.compile(r"迁移|迁到|搬到|搬去|搬家"),
        EventType.MIGRATION,
        turn=Turn.REPLACES,
    ),
    Rule(
        "replacement",
        re.compile(
            r"换成|改成|改用|换到|换了|改为|替换|取代|代替|升级到|更名|改名|现在(?:用|在|住)|不再"
        ),
        EventType.CHANGE,
        turn=Turn.REPLACES,
    ),
    Rule(
        "decision",
        re.compile(r"决定|选用|选择了?|选定|商定|定下|敲定|采用|一致同意|就用|拍板"),
        EventType.DECISION,
        unless=re.compile(r"(?:没|还没|无法|不能)决定"),
    ),
    Rule(
        "incident",
        re.compile(
            r"故障|宕机|崩溃|挂了|坏了|失败|报错|出错|漏洞|丢了|被偷|事故|受伤|住院"
            r"|手术|停电|断网|满了|去世|失业|被裁"
        ),
        EventType.INCIDENT,
        status="occurred",
        unless=re.compile(r"修[好复]|解决了"),
    ),
    Rule(
        "release",
        re.compile(
            r"(?:发布|上线|推出|发版|部署|出版)了|已(?:经)?(?:发布|上线|部署)|发布[^，。]{0,12}版"
        ),
        EventType.RELEASE,
        status="occurred",
        turn=Turn.COMPLETES,
        unless=re.compile(r"计划|打算|准备|将|要"),
    ),
    Rule(
        "completion",
        re.compile(
            r"完成|做完|写完|修好|修复|解决了|搞定|结束了|通过了|毕业|合并了|提交了"
            r"|删除了|赢了|获得了?"
        ),
        EventType.TASK_COMPLETED,
        status="occurred",
        turn=Turn.COMPLETES,
        unless=re.compile(r"计划|打算|准备|没有?完成|未完成|[将要]完成"),
    ),
    Rule(
        "collaboration",
        re.compile(r"加入|合作|一起(?:做|开发|负责)|接手|接管|负责|聘用|招了"),
        EventType.COLLABORATION,
    ),
    Rule(
        "identity",
        re.compile(
            r"我(?:叫|的名字|姓)|我是(?!说|想|否|不是)[^，。]{0,12}|我在[^，"
            r"。]{1,20}(?:工作|上班|任职|上学|读书)|我住在?|我来自|我今年|我的生日"
            r"|我(?:的)?(?:职业|工作)是|我(?:已婚|单身|离婚)|我有[一两三四\d][个条只]"
        ),
        status="ongoing",
        category="身份",
        criticality=Criticality.IDENTITY,
    ),
    Rule(
        "preference",
        re.compile(
            r"喜欢|偏好|讨厌|热爱|爱(?:吃|喝|看|听|玩|好)|最爱|更愿意|宁愿|受不了|感兴趣|迷上|习惯"
        ),
        strength=3,
        status="ongoing",
        category="偏好",
        criticality=Criticality.PREFERENCE,
    ),
    Rule(
        "plan",
        re.compile(
            r"打算|计划|准备|预计|将(?:会|要|于|在)|想要?(?:去|做|学|买|换|养)|希望"
            r"|要去|要在|会在|下周|下个?月|明[天年]|后天|下下周"
        ),
        EventType.PLAN,
        status="planned",
    ),
    Rule(
        "meeting",
        re.compile(r"开会|会议(?!室)|见面|约了|面试|会面|见了|碰头"),
        EventType.MEETING,
        strength=2,
    ),
)
"""Everything that says by its own words what it is; the rest is read by its grammar."""

FIRST_PERSON: Final = re.compile(r"我|咱")
EXPERIENCE: Final = re.compile(r"了|过|在|刚|已经|开始|有|是|叫|用|会|没")
REQUEST: Final = re.compile(
    r"^(?:请|帮我|帮忙|给我|麻烦|能不能|可以帮|把|翻译|解释|写一|列出|总结"
    r"|告诉我|查一?下|看一?下|算一?下|生成|推荐)"
)
SMALL_TALK: Final = re.compile(
    r"^(?:你好|您好|早上好|早安|晚上好|晚安|再见|拜拜|谢谢你?|多谢|辛苦了"
    r"|好的?|嗯+|是的?|对的?|不客气|没事|没关系|没问题|哈+|太好了|太棒了"
    r"|真好|不错|好吧|行|可以|明白了?|知道了|收到|了解|厉害|加油|同意|就这样"
    r"|挺好的?|很好)[！!。.～~呀啊哦吧的了]*$"
)

__all__ = ["EXPERIENCE", "FIRST_PERSON", "REQUEST", "RULES", "SMALL_TALK", "is_correction"]
