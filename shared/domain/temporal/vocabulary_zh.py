"""Chinese words of time and their values, and the reading of Chinese numerals."""

from __future__ import annotations

import re

from shared.domain.temporal.festivals import CHINESE as FESTIVALS

DIGITS = {"〇": 0, "零": 0, "○": 0, "一": 1, "二": 2, "两": 2, "俩": 2, "三": 3, "四": 4,
          "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}  # fmt: skip
SCALES = {"十": 10, "百": 100, "千": 1000}
FEW = frozenset({"几", "好几", "数", "若干", "十几", "几十", "上百", "多少"})

WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6,
            "1": 0, "2": 1, "3": 2, "4": 3, "5": 4, "6": 5, "7": 6}  # fmt: skip
DAY_WORDS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
YEAR_WORDS = {"大前年": -3, "前年": -2, "去年": -1, "上年": -1, "上一年": -1, "今年": 0, "本年": 0,
              "这一年": 0, "明年": 1, "来年": 1, "下一年": 1, "后年": 2, "大后年": 3}  # fmt: skip
RELATIONS = {"上上上": -3, "上上": -2, "大上": -2, "上": -1, "上一": -1, "前一": -1, "这": 0,
             "这一": 0, "本": 0, "当": 0, "下": 1, "下一": 1, "下下": 2, "大下": 2}  # fmt: skip
SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
EDGES = {"初": "early", "上旬": "early", "头": "early", "中旬": "mid", "中": "mid",
         "底": "late", "末": "late", "下旬": "late", "尾": "late"}  # fmt: skip
UNITS = {"分钟": "minute", "分": "minute", "小时": "hour", "钟头": "hour", "天": "day",
         "日": "day", "周": "week", "星期": "week", "礼拜": "week", "周末": "weekend",
         "月": "month", "季度": "quarter", "年": "year"}  # fmt: skip
PARTS = {"凌晨": "morning", "清晨": "morning", "清早": "morning", "一早": "morning",
         "早上": "morning", "早晨": "morning", "上午": "morning", "早": "morning",
         "晨": "morning", "中午": "noon", "正午": "noon", "下午": "afternoon",
         "午后": "afternoon", "傍晚": "evening", "晚上": "evening", "晚间": "evening",
         "夜里": "night", "夜晚": "evening", "深夜": "night", "半夜": "night", "晚": "evening",
         "夜": "night"}  # fmt: skip


def one_of(words: dict[str, object] | frozenset[str]) -> str:
    """Return an alternation of words, longest first."""
    return "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))


NUMERAL = r"(?:\d{1,3}(?:\.5)?|[一二两三四五六七八九十百]{1,5})"
COUNT = rf"(?:{NUMERAL}|好几|几十|十几|几|数|若干|半)"
PART = "|".join(sorted(PARTS, key=len, reverse=True))
EDGE = "|".join(sorted(EDGES, key=len, reverse=True))
FESTIVAL = "|".join(sorted(FESTIVALS, key=len, reverse=True))
YEAR_WORD = "|".join(sorted(YEAR_WORDS, key=len, reverse=True))


def pair(words: str) -> tuple[int, int] | None:
    """Return the two values of an estimate such as 两三 or 七八."""
    if len(words) == 2 and all(c in DIGITS for c in words):
        low, high = (DIGITS[c] for c in words)
        return (low, high) if high == low + 1 else None
    return None


def number(words: str) -> float | None:
    """Return the value of a numeral; 半 is .5; None for 几 and the like."""
    if words in FEW:
        return None
    if words == "半":
        return 0.5
    if words[0].isdigit():
        return float(words)
    total = current = 0
    for char in words:
        if char in SCALES:
            total += (current or 1) * SCALES[char]
            current = 0
        else:
            current = current * 10 + DIGITS[char]
    return float(total + current)


def integer(words: str) -> int:
    """Return the value of a whole numeral; raises ValueError for any other."""
    value = number(words)
    if value is None or value != int(value):
        raise ValueError(f"no whole number: {words}")
    return int(value)


def year_number(words: str) -> int:
    """Return a year written digit by digit, in either kind of digits."""
    return int("".join(str(DIGITS.get(c, c)) for c in words))
