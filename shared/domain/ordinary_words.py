"""Words that follow "the password is" without being one, in English and Chinese."""

from __future__ import annotations

_ENGLISH = """
a able above absent accepted accessible active added after all alphanumeric also always an and
another any asked at attached available bad because been before being below best blank bound
broken by case-sensitive changed changing checked clear complex complicated compromised
confidential configured correct created current cycled default defined deleted denied different
disabled displayed done due easy embedded empty enabled encrypted enough entered exactly expired
expiring exposed false fine for forgotten found from generated given good gone guessable hard
hardcoded hashed held here hers hidden his how if important in inactive incorrect insecure inside
instead invalid it just kept known leaked like limited listed locked long longer lost made managed
mandatory masked mentioned mine missing my necessary needed never new next no none not nothing now
null numeric obsolete of off ok okay old on once one only open optional or our ours out outdated
over part passed permanent placed plain pretty private probably prompted protected provided public
random read ready really redacted refused rejected removed required reset restricted revealed
revoked right rotated safe same saved secret secure sent set shared short shown simple simply
single so some something stolen stored strong stuck supposed temporary that the theirs there they
this to too true typed unavailable unchanged undefined under unique unknown unset until unused up
updated used useless user valid verified very visible weak what when where which who why with
without working written wrong wrongly yes yet you your yours
"""
ORDINARY_WORDS = frozenset(_ENGLISH.split()) | {"n/a", "up-to-date", "up to date"}
"""Lower-case English words that say something about a secret instead of telling it."""

_GRAMMAR = (
    "a an and are at be because been but by for from has have if in is it not of on or so that "
    "the their this to was when which will with you your"
)
GRAMMAR_WORDS = frozenset(_GRAMMAR.split())
"""Words that hold a sentence together, which a list of pass words does without."""

STATEMENT_OPENERS = (
    "多", "什", "啥", "谁", "哪", "怎", "空", "错", "对", "否", "不", "无", "没", "必", "在", "由",
    "为", "用", "放", "存", "保", "自", "随", "可", "需", "要", "有", "以", "指", "一", "个", "这",
    "那", "你", "我", "他", "她", "它", "您", "新", "旧", "同", "相", "默", "正", "安", "加", "明",
    "过", "已", "被", "最", "很", "太", "非", "公", "私", "强", "弱", "何", "如", "从", "跟", "和",
    "与", "区", "临", "永", "的", "吗", "呢", "了", "次", "数", "字", "位",
)  # fmt: skip
"""Openings of a Chinese clause that says something about a secret instead of telling it."""
