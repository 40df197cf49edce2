"""The rules of the answer track, each by itself."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import Result

from shared.errors import InvalidInput
from tests.unit.workers.answering.conftest import Command
from tests.unit.workers.answering.stand_in import StandIn
from workers.evaluation.answering import command
from workers.evaluation.answering.answered import Answered, AnswerKey, Mode
from workers.evaluation.answering.baselines import (
    full_notes,
    gold_notes,
    grep_notes,
    plain_notes,
    shown_ids,
)
from workers.evaluation.answering.chat import ChatReply, ChatRequest
from workers.evaluation.answering.chosen import chosen_questions
from workers.evaluation.answering.endpoint import EndpointModel
from workers.evaluation.answering.in_parallel import in_parallel
from workers.evaluation.answering.loop_steps import Step, assessment_step, open_steps, read_step
from workers.evaluation.answering.prompt_files import JUDGES, prompt, prompt_versions
from workers.evaluation.answering.stages import Stage, failed_at
from workers.evaluation.answering.summary import interval, majority
from workers.evaluation.question_set import Conversation, Message, Question, Turn

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _talk(*said: str) -> Conversation:
    messages = [Message(f"m{n}", "1", "user", "Ada", text, NOON) for n, text in enumerate(said)]
    return Conversation("talk", [Turn({}, messages, True)], [])


def _question(name: str, category: str = "a", text: str = "?", *evidence: str) -> Question:
    return Question(name, text, "yes", category, frozenset(evidence), answerable=True)


def _asked(**counts: int) -> Conversation:
    questions = [_question(f"{c}{n}", c) for c, count in counts.items() for n in range(count)]
    return Conversation("talk", [], questions)


def test_chosen_questions_take_turns_by_category_and_depend_on_the_seed_alone() -> None:
    talk = _asked(a=40, b=3, c=40)
    chosen = [q for _, q in chosen_questions([talk], count=13, seed=1)]
    assert sorted(q.category for q in chosen) == ["a"] * 5 + ["b"] * 3 + ["c"] * 5
    again = [q for _, q in chosen_questions([talk], count=13, seed=1)]
    other = [q for _, q in chosen_questions([talk], count=13, seed=2)]
    assert chosen == again != other
    assert [talk.questions.index(q) for q in chosen] == sorted(map(talk.questions.index, chosen))
    assert len(chosen_questions([talk], count=None, seed=1)) == 83


def test_a_question_without_a_reference_is_only_asked_where_nothing_can_be_known() -> None:
    bare = Question("x", "?", None, "a", frozenset(), answerable=True)
    unknown = Question("y", "?", None, "a", frozenset(), answerable=False)
    talk = Conversation("talk", [], [bare, unknown])
    assert [q.id for _, q in chosen_questions([talk], count=None, seed=1)] == ["y"]


def test_full_context_keeps_the_newest_that_fit_in_the_order_they_were_said() -> None:
    notes = full_notes(_talk("one " * 40, "two", "three"), token_budget=30)
    assert [note.text for note in notes] == ["[1 March 2026, Ada] two", "[1 March 2026, Ada] three"]


def test_baselines_find_by_words_and_gold_shows_the_evidence_alone() -> None:
    talk = _talk("A cat sleeps", "Two cats fight in the garden", "The garden is green")
    asked = _question("q", "a", "Which cats were in the garden?", "m0")
    assert shown_ids(plain_notes(talk, asked, k=1)) == {"m1"}
    assert shown_ids(grep_notes(talk, asked, k=2)) == {"m1", "m2"}
    assert shown_ids(gold_notes(talk, asked)) == {"m0"}


def test_the_least_of_several_runs_is_no_majority() -> None:
    assert majority([True, True, False])
    assert not majority([True, False])
    assert not majority([None, None, True])


def test_the_interval_of_a_share_is_wilsons() -> None:
    low, high = interval(8, 20)
    assert (round(low, 4), round(high, 4)) == (0.2188, 0.6134)
    assert interval(0, 0) == (0.0, 1.0)
    assert interval(0, 10)[0] == 0.0


def _answer(mode: Mode = Mode.MEMORY, **fields: object) -> Answered:
    told: dict[str, object] = {
        "key": AnswerKey(mode, 1, "q"),
        "category": "a",
        "answerable": True,
        "answer": "Rex",
        "error": None,
        "gold": ["m1"],
        "found": ["m1"],
        "notes": [],
        "retrievals": 1,
    }
    return Answered(**{**told, **fields})  # type: ignore[arg-type] # fields by name, for brevity


@pytest.mark.parametrize(
    ("answered", "stage"),
    [
        (_answer(error="deadline"), Stage.MODEL_FAILED),
        (_answer(answer=""), Stage.MODEL_FAILED),
        (_answer(is_unreadable=True), Stage.MODEL_FAILED),
        (_answer(retrievals=0, found=[]), Stage.NOT_RETRIEVED),
        (_answer(found=["m9"], is_sufficient=True), Stage.NEVER_FOUND),
        (_answer(is_sufficient=True), Stage.SUFFICIENT_BUT_WRONG),
        (_answer(), Stage.FOUND_BUT_INSUFFICIENT),
        (_answer(answerable=False), Stage.BUDGET_SPENT),
        (_answer(gold=[], found=[]), Stage.BUDGET_SPENT),
        (_answer(answerable=False, is_sufficient=True), Stage.SUFFICIENT_BUT_WRONG),
        (_answer(Mode.NONE), Stage.NOT_RETRIEVED),
        (_answer(Mode.PLAIN, found=[]), Stage.NEVER_FOUND),
        (_answer(Mode.GOLD), Stage.SHOWN_BUT_WRONG),
        (_answer(Mode.FULL, answerable=False), Stage.MADE_UP),
    ],
)
def test_a_wrong_answer_has_one_stage(answered: Answered, stage: Stage) -> None:
    assert failed_at(answered) is stage


@pytest.mark.parametrize("said", ["unknown", "Unknown.", '"unknown"', "I don't know"])
def test_saying_that_it_is_unknown_needs_no_judge(said: str) -> None:
    assert _answer(answer=said).is_abstention
    assert not _answer(answer="Her dog is unknown to me").is_abstention


def test_only_steps_that_are_open_are_read() -> None:
    both = open_steps(may_answer=True, expandable=[2])
    asked = '{"step": {"action": "memory_search_raw", "query": " a  dog "}}'
    assert read_step(ChatReply(asked), both) == Step("memory_search_raw", query="a dog")
    assert read_step(ChatReply('{"action": "answer"}'), both) == Step("answer")
    late = open_steps(may_answer=False, expandable=[])
    for said in ('{"step": {"action": "answer"}}', '{"step": []}', "[]", "", '{"step": {}}'):
        assert read_step(ChatReply(said), late) is None
    waiting = assessment_step([1, 2])
    judged = '{"step": {"action": "memory_assess", "verdict": "partial", "items": [1, 1, "x"]}}'
    assert read_step(ChatReply(judged), waiting) == Step(
        "memory_assess", verdict="partial", items=(1,)
    )
    assert read_step(ChatReply(asked), waiting) is None


def test_every_published_prompt_has_a_version_that_tells_its_words() -> None:
    versions = prompt_versions()
    assert set(JUDGES.values()) < versions.keys()
    assert len(set(versions.values())) == len(versions)
    assert all(prompt(name) and name.endswith(".v1") for name in versions)


def test_the_published_page_holds_every_prompt_as_it_is_sent() -> None:
    page = (Path(__file__).parents[4] / "docs/evaluation/answers.md").read_text(encoding="utf-8")
    for name in prompt_versions():
        assert f"```text\n{prompt(name)}\n```" in page, name
        assert f"`{name}`" in page


def test_tasks_are_done_in_order_and_the_first_failure_leaves_the_rest() -> None:
    done: list[int] = []

    def work(task: int) -> None:
        if task == 3:
            raise ValueError(task)
        done.append(task)

    with pytest.raises(ValueError, match="3"):
        in_parallel(range(1, 6), work, threads=1, on_done=lambda: None)
    assert done == [1, 2]
    in_parallel(range(10, 20), done.append, threads=3, on_done=lambda: None)
    assert sorted(done[2:]) == list(range(10, 20))


def test_ctrl_c_ends_at_once_though_a_task_still_runs() -> None:
    is_released = threading.Event()
    begun: list[int] = []

    def work(task: int) -> None:
        begun.append(task)
        if task > 1:
            is_released.wait(30)

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_parallel(range(1, 5), work, threads=2, on_done=interrupted)
    is_released.set()
    assert 4 not in begun


def test_the_command_tells_how_to_continue_after_ctrl_c(
    eval_answers: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_answers", interrupted)
    ended: Result = eval_answers("--modes", "none")
    assert ended.exit_code == 130
    assert "continues" in ended.stderr.replace("\n", " ")


def _request(*, is_json: bool = False) -> ChatRequest:
    schema = {"type": "object", "properties": {}} if is_json else None
    return ChatRequest("s", "u", 10, 0.0, 1, schema=schema)


def test_a_request_hashes_by_everything_that_shapes_its_reply() -> None:
    keys = {
        ChatRequest("s", "u", 10, 0.0, 1).key("m"),
        ChatRequest("s", "u", 10, 0.0, 2).key("m"),
        ChatRequest("s", "u", 10, 0.5, 1).key("m"),
        ChatRequest("s", "u", 11, 0.0, 1).key("m"),
        ChatRequest("s", "u", 10, 0.0, 1, schema={"type": "object"}).key("m"),
        ChatRequest("s", "u", 10, 0.0, 1).key("other"),
    }
    assert len(keys) == 6
    assert _request().key("m") in keys


def test_a_form_that_an_endpoint_does_not_know_is_left_out_from_then_on(
    stand_in: StandIn,
) -> None:
    stand_in.refuses = "json_schema"
    model = EndpointModel(f"{stand_in.url}/v1", "m")
    assert model.ask(_request(is_json=True)).text == "unknown"
    tried = len(stand_in.asked)
    assert tried > 1
    assert model.ask(_request(is_json=True)).input_tokens == 100
    last = stand_in.asked[-1]
    assert len(stand_in.asked) == tried + 1
    assert last["response_format"] == {"type": "json_object"}
    assert "JSON schema" in last["messages"][0]["content"]
    assert (last["seed"], last["temperature"], last["max_tokens"]) == (1, 0.0, 10)


def test_an_endpoint_that_is_away_is_tried_again_and_then_a_failure() -> None:
    pauses: list[float] = []
    model = EndpointModel("http://127.0.0.1:1/v1", "m", pause=pauses.append)
    reply = model.ask(_request())
    assert reply.error == "connection"
    assert pauses == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize(
    "endpoint", ["", "m", "m@", "@https://h/v1", "m@ftp://h/v1", "m@https://u:p@h/v1", "m@https://"]
)
def test_an_endpoint_is_a_name_and_an_address(endpoint: str) -> None:
    with pytest.raises(InvalidInput, match="STRATAGATE_EVAL_ENDPOINT"):
        EndpointModel.named(endpoint, None)
    named = EndpointModel.named("org/model:7b@https://host/v1/", None)
    assert (named.name, named.base_url) == ("org/model:7b", "https://host/v1")


def test_the_answer_track_is_a_client_of_the_api_alone() -> None:
    package = Path(command.__file__).parent
    for file in package.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        for foreign in ("from retrieval", "from ingest", "shared.store"):
            assert foreign not in text, file
