from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from shared.domain.temporal import Basis, Precision, TemporalStatus, TimeExpression, resolve

THURSDAY = datetime(2025, 6, 12, 10, 0, tzinfo=UTC)


def only(text: str) -> TimeExpression:
    found = resolve(text, THURSDAY, "UTC")
    assert len(found) == 1, [f.original_text for f in found]
    return found[0]


DAYS = [
    ("前天我把自行车修好了。", "前天", "2025-06-10"),
    ("大后天他们搬家。", "大后天", "2025-06-15"),
    ("昨天晚上停电了。", "昨天晚上", "2025-06-11"),
    ("今早我跑了五公里。", "今早", "2025-06-12"),
    ("上周三我们签了合同。", "上周三", "2025-06-04"),
    ("下个星期天要去爬山。", "下个星期天", "2025-06-22"),
    ("这周六有音乐会。", "这周六", "2025-06-14"),
    ("礼拜一我去了银行。", "礼拜一", "2025-06-09"),
    ("我打算周二交稿。", "周二", "2025-06-17"),
    ("十二天前下过冰雹。", "十二天前", "2025-05-31"),
    ("三天之后开学。", "三天之后", "2025-06-15"),
    ("再过五天就毕业了。", "再过五天", "2025-06-17"),
    ("2023年8月9日我到了成都。", "2023年8月9日", "2023-08-09"),
    ("二〇二一年十月一日我们结婚。", "二〇二一年十月一日", "2021-10-01"),
    ("去年三月五号我搬到了厦门。", "去年三月五号", "2024-03-05"),
    ("上个月二十号发了奖金。", "上个月二十号", "2025-05-20"),
    ("我15号要去办签证。", "15号", "2025-06-15"),
    ("去年中秋节我在老家。", "去年中秋节", "2024-09-17"),
    ("今年端午节我们包了粽子。", "今年端午节", "2025-05-31"),
    ("大年初三我们去拜年了。", "大年初三", "2025-01-31"),
    ("去年的今天我们在巴黎。", "去年的今天", "2024-06-12"),
]


@pytest.mark.parametrize(("text", "words", "day"), DAYS)
def test_a_day_is_resolved_to_that_day(text: str, words: str, day: str) -> None:
    found = only(text)
    wanted = date.fromisoformat(day)
    assert (found.original_text, found.start, found.end) == (words, wanted, wanted)
    assert found.precision is Precision.DAY


SPANS = [
    ("上上周我们换了锁。", "2025-05-26", "2025-06-01", Precision.RANGE),
    ("下周末他来看我。", "2025-06-21", "2025-06-22", Precision.RANGE),
    ("两个星期前买的票。", "2025-05-26", "2025-06-01", Precision.RANGE),
    ("下个月初要搬家。", "2025-07-01", "2025-07-10", Precision.RANGE),
    ("月中有考试。", "2025-06-11", "2025-06-20", Precision.RANGE),
    ("四个月前她辞职了。", "2025-02-01", "2025-02-28", Precision.MONTH),
    ("半年前我开始学琴。", "2024-12-01", "2024-12-31", Precision.MONTH),
    ("前年我们在广州。", "2023-01-01", "2023-12-31", Precision.YEAR),
    ("去年冬天特别冷。", "2024-12-01", "2025-02-28", Precision.RANGE),
    ("去年年底公司搬了。", "2024-10-01", "2024-12-31", Precision.RANGE),
    ("七年前我还在读书。", "2018-01-01", "2018-12-31", Precision.YEAR),
    ("几个月前我见过他。", "2025-01-01", "2025-04-30", Precision.RANGE),
    ("前几天我感冒了。", "2025-06-07", "2025-06-10", Precision.RANGE),
    ("2022年春节我们在三亚。", "2022-01-31", "2022-02-07", Precision.RANGE),
    ("8月5日到9日他出差。", "2025-08-05", "2025-08-09", Precision.RANGE),
    ("下周一到周三放假。", "2025-06-16", "2025-06-18", Precision.RANGE),
    ("上世纪八十年代他当过兵。", "1980-01-01", "1989-12-31", Precision.RANGE),
    ("大概一年前我认识了她。", "2024-05-01", "2024-07-31", Precision.RANGE),
    ("两三年前我学过法语。", "2022-01-01", "2023-12-31", Precision.RANGE),
    ("去年下半年很忙。", "2024-07-01", "2024-12-31", Precision.RANGE),
]


@pytest.mark.parametrize(("text", "first", "last", "precision"), SPANS)
def test_a_stretch_has_inclusive_ends(
    text: str, first: str, last: str, precision: Precision
) -> None:
    found = only(text)
    assert (str(found.start), str(found.end), found.precision) == (first, last, precision)


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("下周二下午四点半体检。", "2025-06-17T16:30:00+00:00"),
        ("明天上午10点开会。", "2025-06-13T10:00:00+00:00"),
        ("我昨晚11点才睡。", "2025-06-11T23:00:00+00:00"),
        ("半小时前他打过电话。", "2025-06-12T09:30:00+00:00"),
        ("7月1日15:20起飞。", "2025-07-01T15:20:00+00:00"),
    ],
)
def test_a_clock_time_makes_an_instant(text: str, clock: str) -> None:
    found = only(text)
    assert found.precision is Precision.INSTANT
    assert found.start == datetime.fromisoformat(clock)


def test_a_lasting_state_is_dated_by_the_year_in_which_it_began() -> None:
    found = only("我在这里工作四年了。")
    assert (found.start, found.end) == (date(2021, 1, 1), date(2021, 12, 31))
    assert found.status is TemporalStatus.ONGOING
    assert only("从2016年开始我吃素。").status is TemporalStatus.ONGOING


def test_a_stated_year_is_explicit_and_all_else_relative() -> None:
    assert only("2023年8月我到了成都。").basis is Basis.EXPLICIT
    assert only("去年8月我到了成都。").basis is Basis.RELATIVE


def test_a_weekday_and_the_word_after_it_are_told_apart() -> None:
    assert only("上周一直下雨。").original_text == "上周"
    assert only("下周一定去。").original_text == "下周"
    assert only("上周三个人退了票。").original_text == "上周"
    assert only("上周三下雨了。").original_text == "上周三"


def test_both_languages_are_read_in_one_text() -> None:
    found = resolve("上周五 we shipped, and next Monday 休息", THURSDAY, "UTC")
    assert [f.start for f in found] == [date(2025, 6, 6), date(2025, 6, 16)]
