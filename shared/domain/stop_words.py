"""Words that say nothing about a subject: English function words, Han function characters.

Question words count as such; `may` does not (it is a month), nor do negated states, which
people search for by their other words.
"""

from __future__ import annotations

from typing import Final


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ENGLISH: Final = frozenset(
    _listed("""
    a an the and or but nor so if then than else as of at by for with about against between into
    through during before after above below to from up down in out on off over under again once
    here there when where why how what which who whom whose
    all any both each few more most other some such no not only own same too very just also
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves this that these
    those am is are was were be been being have has had having do does did doing done would
    should could can will shall might must ought let
    eg ie etc oh ok okay yes yeah hey hi hello um uh wow please thanks thank
    isn't aren't wasn't weren't don't doesn't didn't won't wouldn't shan't shouldn't can't cannot
    couldn't mustn't haven't hasn't hadn't ain't let's
    """)
)

CONTRACTED: Final = frozenset({"s", "t", "d", "m", "re", "ve", "ll"})
"""What may follow the apostrophe of a function word: it's, I'm, they've."""

HAN_CHARACTERS: Final = frozenset(
    "的了吗呢吧啊呀嘛么们我你您他她它咱是在有和与及就都也还又很不没这那个什哪之其把被给到对从向为"
    "于而或但着过得地能要嗎麼們這個還沒"
)
"""Dropped where they stand alone, kept inside a pair with a telling character."""

HAN_PAIRS: Final = frozenset(
    _listed("""
    什么 怎么 时候 么时 哪里 哪儿 哪个 哪些 多少 为什 是否 可以 我们 你们 他们 她们 它们 这个 那个
    这些 那些 一个 一些 一下 没有 不是 就是 还是 但是 因为 所以 如果 什麼 怎麼 時候 我們 你們 他們
    """)
)

HIRAGANA_PARTICLES: Final = frozenset("はがをにでとものへやかねよ")

KOREAN_PARTICLES: Final = _listed("""
    에서는 에게서 으로는 이라고 입니다 에서 에게 으로 까지 부터 처럼 보다 하고 이나 이랑 한테 라고
    은 는 이 가 을 를 에 의 도 로 와 과 만 랑 나
""")
"""Longest first, so that a compound particle goes as a whole."""
