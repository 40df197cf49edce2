"""The prompt that a person pastes into another assistant to take along what it remembers."""

from __future__ import annotations

from typing import Final, Literal

FORMAT: Final = "stratagate.external-memory.v2"
Language = Literal["en", "zh"]

_SHAPE: Final = """\
{
  "schemaVersion": "stratagate.external-memory.v2",
  "sourceType": "external_ai_memory_export",
  "sourceSystem": "...",
  "exportedAt": "...",
  "coverage": "full | partial | limited",
  "coverageNote": "...",
  "candidates": [
    {
      "memoryKind": "instruction | preference | fact | event",
      "category": "instruction | identity | career | project | preference",
      "title": "...",
      "summary": "...",
      "narrative": "...",
      "tags": ["..."],
      "quotes": ["..."],
      "scope": "user | project | session",
      "confidence": 0.9,
      "temporal": {
        "mentionedAt": "...",
        "originalText": "...",
        "happenedStart": "...",
        "happenedEnd": "...",
        "precision": "instant | day | month | year | range | unknown",
        "basis": "explicit | relative | inferred | unknown",
        "status": "occurred | planned | ongoing | cancelled | unknown",
        "participants": ["..."]
      }
    }
  ],
  "uncertainItems": ["..."]
}"""

_ENGLISH: Final = f"""\
I am moving to another assistant and want to take along what you remember about me. Please write \
it down as one JSON object of this shape, and nothing else: no introduction, no code fence, no \
remarks.

{_SHAPE}

Rules:
1. Write only what you can really reach now: saved memories, my instructions to you, and \
conversations that you can read at this moment. Invent nothing, and do not fill gaps with what is \
likely. If you can reach only a part, set coverage to "partial" or "limited" and say in \
coverageNote what is missing.
2. One fact a candidate. Split lists and long notes; never put two statements into one.
3. memoryKind: instruction for how I want you to work, preference for what I like or dislike, fact \
for what is so about me or my work, event for what happened or is planned. category: whichever of \
the five fits; leave it out if none does.
4. title is a short phrase; summary one or two sentences that can be understood without the \
conversation, with names instead of pronouns. quotes are my own words, exactly, or an empty list.
5. If two things that you remember contradict each other, write both, each as a candidate of its \
own. Do not decide which is right and do not blend them.
6. Guess no dates. Give mentionedAt only if you know when I said it, and happenedStart or \
happenedEnd only if I gave a date; use ISO 8601. Put words such as "next spring" into originalText \
as they were said, and set precision and basis to "unknown".
7. Leave out passwords, keys, tokens, bank, card and identity document numbers, exact home \
addresses and other sensitive identifiers, even if I once gave them to you.
8. What you are unsure of goes into uncertainItems, in a few words each, not among the candidates.
9. Leave a field out where you have nothing for it. sourceSystem is your own name.
"""

_CHINESE: Final = f"""\
我准备改用另一个助手，想把你记得的关于我的内容带过去。请按下面的结构写成一个 JSON 对象，\
除此之外什么都不要写：不要开场白，不要代码块标记，不要说明。

{_SHAPE}

要求：
1. 只写你此刻真正能读到的内容：已保存的记忆、我给你的指示，以及你现在能看到的对话。\
不要编造，也不要用“可能如此”来补空缺。如果只能读到一部分，把 coverage 写成 "partial" 或 \
"limited"，并在 coverageNote 里说明缺了什么。
2. 每个候选只写一件事。清单和长段要拆开，不要把两句话合成一条。
3. memoryKind：希望你怎样做事用 instruction，喜好与厌恶用 preference，关于我或我的工作的事实用 \
fact，发生过或计划中的事用 event。category 从五个里选最合适的；都不合适就不写。
4. title 是简短的短语；summary 用一两句话写清楚，不看对话也能懂，用名字代替代词。\
quotes 只放我的原话，一字不差；没有就留空列表。
5. 如果你记得的两件事互相矛盾，分别写成两个候选。不要替我判断哪个对，也不要揉成一条。
6. 不要猜日期。只有知道我何时说的才写 mentionedAt，只有我说过具体日期才写 happenedStart 或 \
happenedEnd，用 ISO 8601 格式。“明年春天”这类说法照原话写进 originalText，并把 precision 和 \
basis 都写成 "unknown"。
7. 不要写密码、密钥、令牌、银行账号、卡号、证件号码、详细住址等敏感标识，即使我以前告诉过你。
8. 拿不准的内容用几个字写进 uncertainItems，不要放进候选里。
9. 没有内容的字段就不写。sourceSystem 写你自己的名字。
"""

_PROMPTS: Final[dict[Language, str]] = {"en": _ENGLISH, "zh": _CHINESE}


def import_prompt(language: Language) -> dict[str, str]:
    """Return the prompt in a language, with the format that it asks for."""
    return {"language": language, "format": FORMAT, "prompt": _PROMPTS[language]}
