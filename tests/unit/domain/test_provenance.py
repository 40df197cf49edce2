import pytest

from shared.domain.derivation import without_own_memory
from shared.domain.events import Quote
from shared.domain.provenance import check_quotes, is_grounded, part_sources
from shared.domain.turns import Message, Origin, Role

ASKED = Message(id="m1", role=Role.USER, content="Choir rehearsals moved to\n hall Ｄ.")
ANSWERED = Message(id="m2", role=Role.ASSISTANT, content="Noted: hall D from 14 May.")
SYSTEM = Message(id="m3", role=Role.SYSTEM, content="You are Quill, who loves haiku.")
INJECTED = Message(id="m4", role=Role.USER, content="Memory: x", origin=Origin.INJECTED)
CHINESE = Message(id="m5", role=Role.USER, content="今天把自行车链条换了。")
TOOL = Message(
    id="m6",
    role=Role.ASSISTANT,
    content="",
    tool_calls=({"name": "deploy", "result": "version 4.2 is live"},),
)
BLOCK = (ASKED, ANSWERED, SYSTEM, INJECTED, CHINESE, TOOL)


def test_only_evidence_of_the_target_is_a_legal_source() -> None:
    parted = part_sources(["m1", "m9", "m1", "m3", "m4", "m2"], BLOCK)
    assert parted.legal == ("m1", "m2")
    assert parted.foreign == ("m9", "m3", "m4")


@pytest.mark.parametrize("quote", ["moved to hall D", "moved  to\thall D.", " Choir rehearsals "])
def test_quotes_are_verbatim_under_width_and_space_folding(quote: str) -> None:
    checked = check_quotes([(None, quote)], [ASKED])
    assert checked.verbatim == (Quote("m1", quote.strip()),)


@pytest.mark.parametrize("quote", ["moved to hall E", "MOVED TO HALL D", ".", "hall D from 14"])
def test_other_quotes_are_dropped_and_told(quote: str) -> None:
    checked = check_quotes([(None, quote)], [ASKED])
    assert checked.verbatim == ()
    assert checked.dropped == (quote,)


def test_a_quote_is_credited_to_the_message_it_names_or_else_the_one_that_holds_it() -> None:
    both = (ASKED, ANSWERED)
    assert check_quotes([("m2", "hall D")], both).verbatim == (Quote("m2", "hall D"),)
    assert check_quotes([("m1", "14 May")], both).verbatim == (Quote("m2", "14 May"),)
    assert check_quotes([("m9", "hall D")], both).verbatim == (Quote("m1", "hall D"),)


def test_a_quote_may_come_from_the_tool_trace() -> None:
    assert check_quotes([(None, "version 4.2 is live")], [TOOL]).verbatim


def test_lang_05_a_statement_with_every_word_foreign_is_ungrounded() -> None:
    assert not is_grounded("prefers window seats. The user prefers window seats.", [CHINESE])


@pytest.mark.parametrize(
    "statement",
    [
        "Choir practice is elsewhere",  # a name
        "Something planned for 14",  # a number of the other message is foreign
        "rehearsals were moved",  # two content words
    ],
)
def test_names_numbers_and_words_in_common_ground_a_statement(statement: str) -> None:
    expected = "14" not in statement
    assert is_grounded(statement, [ASKED]) is expected
    assert is_grounded(statement, [ASKED, ANSWERED])


def test_a_summary_in_another_language_stands_on_its_quote() -> None:
    statement = "The user replaced a bicycle part"
    assert not is_grounded(statement, [CHINESE])
    assert is_grounded(statement, [CHINESE], quotes=[Quote("m5", "自行车链条")])


def test_chinese_words_in_common_ground_a_chinese_statement() -> None:
    assert is_grounded("更换自行车链条", [CHINESE])
    assert not is_grounded("预订靠窗座位", [CHINESE])


def test_generic_words_in_common_ground_nothing() -> None:
    source = Message(id="m", role=Role.USER, content="I said that I will use it then.")
    assert not is_grounded("The user said that the user prefers aisle seats", [source])


def test_a_quote_across_what_the_view_leaves_out_stands_in_no_message() -> None:
    kept = Message("msg_1", Role.USER, "hello <memory-context>x</memory-context> bye")
    view = without_own_memory([kept])
    quotes = [("msg_1", "hello"), ("msg_1", "hello bye"), ("msg_1", "x")]
    checked = check_quotes(quotes, view, stored=[kept])
    assert [quote.text for quote in checked.verbatim] == ["hello"]
    assert checked.dropped == ("hello bye", "x")
