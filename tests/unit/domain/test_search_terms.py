from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.bm25 import Bm25Stats, score_document
from shared.domain.search_terms import (
    FOLDED_PREFIX,
    MAX_INDEXED_CHARS,
    MAX_TERM_LENGTH,
    TermFinder,
    matched_terms,
    query_terms,
    search_terms,
)

ANY_TEXT = st.text(st.characters(), max_size=80)


def ranked(query: str, *documents: str) -> list[float]:
    """Score each document against the query, as the product does."""
    cut = [search_terms(document) for document in documents]
    stats = Bm25Stats(
        document_count=len(cut),
        average_length=sum(map(len, cut)) / len(cut),
        document_frequencies=Counter(term for terms in cut for term in set(terms)),
    )
    weights = query_terms(query)
    return [
        score_document(Counter(terms), len(terms), stats=stats, query_weights=weights)
        for terms in cut
    ]


def test_a_chinese_question_finds_its_event_by_pairs_alone() -> None:  # lang-01
    scores = ranked("周会什么时候", "小组决定把周会改到星期四下午。", "新的咖啡机放在二楼。")
    assert scores[0] > 0
    assert scores[1] == 0


@pytest.mark.parametrize("query", ["alpha-2", "ALPHA‑2", "Alpha 2", "alpha2"])
def test_full_width_letters_and_hyphens_meet_plain_ones(query: str) -> None:  # lang-07
    assert ranked(query, "サーバー名はＡＬＰＨＡ－２です。", "別のサーバーです。")[0] > 0


@pytest.mark.parametrize("query", ["수요일 회의", "회의", "수요일"])
def test_korean_particles_do_not_block_a_match(query: str) -> None:  # lang-08
    meeting, parking = ranked(query, "회의는 매주 수요일에 열린다.", "주차장은 지하에 있다.")
    assert meeting > 0
    assert parking == 0


def test_a_korean_noun_of_one_syllable_is_found_under_its_particle() -> None:
    assert ranked("집", "집에 가요", "밥을 먹어요")[0] > 0


def test_composed_and_decomposed_accents_are_one_spelling() -> None:  # lang-09
    text = "Le café préféré est près du quai."
    decomposed = "cafe\u0301 pre\u0301fe\u0301re\u0301"
    assert query_terms(decomposed) == query_terms("café préféré")
    assert ranked(decomposed, text, "Une autre phrase.")[0] > 0


def test_folded_accents_match_below_the_exact_spelling() -> None:  # lang-09
    documents = ("Le café préféré est près du quai.", "Une autre phrase.")
    exact = ranked("café préféré", *documents)[0]
    folded = ranked("cafe prefere", *documents)[0]
    assert 0 < folded < exact


def test_an_accented_query_finds_the_plain_spelling_below_the_accented_one() -> None:
    accented, plain, other = ranked("café", "café du quai", "cafe du quai", "rien du tout")
    assert accented > plain > other == 0


def test_a_hiragana_only_overlap_is_no_match() -> None:
    assert ranked("それはです", "これはペンです", "あれはです") == [0, 0]
    assert ranked("ペン", "これはペンです", "あれはです")[0] > 0


def test_inflected_kanji_match_but_not_by_their_particles() -> None:
    assert "食べ" in search_terms("りんごを食べた")
    assert "本を" not in search_terms("本を読む")


def test_a_single_han_character_is_found_inside_a_longer_run() -> None:
    assert ranked("猫", "卡罗琳养了一只猫", "她去学校演讲")[0] > 0


def test_function_words_are_dropped_and_other_words_stemmed() -> None:
    assert search_terms("She was running through Caroline's classes") == [
        "run",
        "carolin",
        "class",
    ]


def test_a_text_of_function_words_alone_keeps_them() -> None:
    assert search_terms("Who am I?") == ["who", "am", "i"]
    assert ranked("who am I", "Who am I?", "A red bicycle")[0] > 0
    assert query_terms("他") == {"他": 1.0}


def test_initials_are_no_function_word() -> None:
    assert search_terms("the U.S. embassy") == ["us", "embassi"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("node.js", ["node.js", "node", "js"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("state-of-the-art", ["state", "art", "stateoftheart"]),
        ("v1.2.3", ["1.2.3"]),
        ("1,000", ["1000"]),
        ("May 7th", ["may", "7"]),
        ("2026-08-06", ["2026", "8", "6", "20260806"]),
        ("l'été", ["été", "f:ete"]),
    ],
)
def test_compounds_and_numbers_keep_their_wholes_and_their_parts(
    text: str, terms: list[str]
) -> None:
    assert search_terms(text) == terms


@pytest.mark.parametrize("text", ["", "   ", "???", "!!! …", "😀👍🏽", "-"])
def test_a_query_without_words_asks_for_nothing(text: str) -> None:
    assert query_terms(text) == {}
    assert search_terms(text) == []


def test_matches_are_told_in_the_words_of_the_query() -> None:
    document = search_terms("Caroline joined a pottery class at the café.")
    found = matched_terms("When did Caroline's classes start, at the cafe?", document)
    assert found == ("caroline's", "classes", "cafe")
    assert matched_terms("周会什么时候", search_terms("把周会改到下午")) == ("周会",)
    assert matched_terms("nothing", document) == ()


def test_words_of_two_threads_do_not_mix() -> None:
    words = [f"{stem}ization{'s' * (n % 2)}" for n in range(150) for stem in ("organ", "modern")]
    text = " ".join(words)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(search_terms, [text] * 8))
    assert all(result == search_terms(text) for result in results)


@given(ANY_TEXT)
def test_any_text_has_bounded_terms_and_weights(text: str) -> None:
    assert all(0 < len(term) <= MAX_TERM_LENGTH for term in search_terms(text))
    assert all(0 < weight <= 1 for weight in query_terms(text).values())


@given(ANY_TEXT)
def test_every_text_is_found_by_itself(text: str) -> None:
    terms = search_terms(text)
    assert set(terms) <= set(query_terms(text)) | {t for t in terms if t.startswith("f:")}
    assert bool(terms) == bool(query_terms(text))


@pytest.mark.parametrize("blob", ["aGVsbG8gd29ybGQ" * 60_000, "x" * 900_000], ids=["base64", "x"])
@pytest.mark.timeout(20)
def test_a_run_of_letters_longer_than_any_word_costs_no_more_than_its_length(blob: str) -> None:
    normal = search_terms("the blob said running")
    assert search_terms(f"the blob said running {blob}")[: len(normal)] == normal
    assert search_terms(blob) == [blob.lower()[:MAX_TERM_LENGTH]]
    assert set(search_terms(blob)) <= set(query_terms(blob))


def test_a_giant_message_is_found_by_its_beginning_and_costs_no_more_than_that() -> None:
    text = "kettle " + "ordinary " * (MAX_INDEXED_CHARS // 9) + "zebra"
    assert len(text) > MAX_INDEXED_CHARS
    terms = search_terms(text)
    assert "kettl" in terms
    assert "zebra" not in terms
    assert terms == search_terms(text[:MAX_INDEXED_CHARS])


ANY_WORDS = st.lists(
    st.sampled_from(
        [
            "the",
            "running",
            " ",
            "don't",
            "café",
            "a-b",
            "数据库",
            "的",
            "食べた",
            "회의에",
            "が",
            "１",
        ]
    ),
    max_size=10,
).map("".join)


@given(ANY_WORDS | st.text(max_size=60))
def test_what_a_text_is_indexed_under_its_own_query_finds(text: str) -> None:
    asked = query_terms(text)
    assert {term for term in search_terms(text) if not term.startswith(FOLDED_PREFIX)} <= set(asked)
    assert bool(asked) == bool(search_terms(text))


@pytest.mark.parametrize(
    "text",
    [
        "The skies were dying over the harbours; singly, the dogs ran early.",
        "We'll visit the café in Zürich on the 3rd, v1.2.3 is out, U.S.A. too",
        "a well-known state-of-the-art pre-release",
        "it was that, and on the other",
        "l'école d'été and 1,234 things",
        "望远镜 is in the attic 阁楼",
        "",
        "?!",
    ],
)
def test_the_terms_that_a_text_holds_are_those_it_is_indexed_under(text: str) -> None:
    wanted = set(query_terms(text)) | set(search_terms(text)) | {"sky", "die", "harbour", "zurich"}
    for asked in (wanted, *({term} for term in wanted)):
        assert TermFinder(asked).held(text) == asked & set(search_terms(text))
