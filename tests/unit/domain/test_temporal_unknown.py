from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.domain.temporal import Basis, Precision, resolve

AT = datetime(2025, 9, 17, 10, 0, tzinfo=UTC)

FALSE_FRIENDS = [
    "You may borrow the ladder, and it may rain.",
    "The scouts march past and the band may march too.",
    "Give me a second, this is my second attempt.",
    "We read in the sun until the sun set.",
    "I rate the film 5/10, the sequel 7/10.",
    "Upgrade to version 1.2.3 or 10.11.2024-rc1.",
    "The talk is in room 2026, up the stairs.",
    "It costs $2019 or 2,020 euros.",
    "Leaves fall, and ducks spring from the reeds.",
    "April and June are my cousins, May is my aunt.",
    "They play Yesterday Once More at every wedding.",
    'My favourite song is "Yesterday".',
    "It feels like only yesterday.",
    "We dance every Friday and on Sundays.",
    "Taco Tuesday is our thing.",
    "The Christmas tree is plastic.",
    "I lived there for three years.",
    "You can finish it in two days.",
    "Two days later they left, and the next day we followed.",
    "I'm 25 years old and 180 cm tall.",
    "The 21st century, the 3rd floor, my 18th birthday.",
    "My number is 2015-2018-77 and the ratio is 3:45.",
    "一天到晚都在忙，十分累。",
    "等了半天，三天打鱼两天晒网。",
    "以后天天锻炼，雨后天晴。",
    "他有三年前端开发经验。",
    "我住15号楼，坐3号线。",
    "有一点不好，我有三点建议。",
    "他读三年级，每周三游泳。",
    "五月天的歌很好听。",
    "前天津队队长退役了。",
    "今年轻人都不爱喝酒。",
]


@pytest.mark.parametrize("text", FALSE_FRIENDS)
def test_a_false_friend_gives_no_date(text: str) -> None:
    assert [f.original_text for f in resolve(text, AT, "UTC") if f.start is not None] == []


VAGUE = [
    ("I saw her recently.", "recently"),
    ("We will talk soon.", "soon"),
    ("I'd like to see Peru someday.", "someday"),
    ("It broke a while ago.", "a while ago"),
    ("Years ago we had a boat.", "Years ago"),
    ("It closed over a year ago.", "over a year ago"),
    ("Party on Saturday!", "Saturday"),
    ("It is dated 03/04/2026.", "03/04/2026"),
    ("The card says 30 February 2024.", "30 February 2024"),
    ("The log says 2025-02-29.", "2025-02-29"),
    ("She'll decide before Friday.", "Friday"),
    ("最近我很忙。", "最近"),
    ("改天一起吃饭。", "改天"),
    ("以前我住在这里。", "以前"),
    ("2月30日开会。", "2月30日"),
    ("农历三月初三有庙会。", "农历三月初三"),
    ("腊月二十三祭灶。", "腊月二十三"),
    ("一年多前我来过。", "一年多前"),
    ("周五之前交报告。", "周五"),
]


@pytest.mark.parametrize(("text", "words"), VAGUE)
def test_vague_words_are_kept_without_a_date(text: str, words: str) -> None:
    found = [f for f in resolve(text, AT, "UTC") if f.original_text == words]
    assert len(found) == 1
    assert (found[0].start, found[0].end) == (None, None)
    assert (found[0].precision, found[0].basis) == (Precision.UNKNOWN, Basis.UNKNOWN)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("on 31 November 2024", "impossible_date"),
        ("on 31.11.2024", "impossible_date"),
        ("on 01/02/2024", "ambiguous_order"),
        ("from 9 to 3 May 2024", "inverted_range"),
        ("before Monday", "open_bound"),
        ("正月十五", "lunar_calendar"),
    ],
)
def test_a_refusal_says_why(text: str, note: str) -> None:
    assert [f.note for f in resolve(text, AT, "UTC")] == [note]


def test_a_festival_outside_the_table_has_no_date() -> None:
    assert [f.start for f in resolve("1987年中秋节", AT, "UTC")] == [None]
