from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shared.errors import InvalidInput
from tests.unit.workers.answering.conftest import ASKED, TALK, Command
from tests.unit.workers.answering.stand_in import StandIn
from workers.evaluation.answering.stages import Stage
from workers.evaluation.results import read_results

ANSWERS = {q["question"]: q.get("answer", "Tom") for q in ASKED}


def _question(request: dict[str, Any]) -> str:
    user = str(request["messages"][1]["content"])
    return user.partition("QUESTION: ")[2].split("\n")[0]


def _schema_name(request: dict[str, Any]) -> str:
    form = request.get("response_format") or {}
    return str(form.get("json_schema", {}).get("name", ""))


def _is_judge(request: dict[str, Any]) -> bool:
    return "VERDICT:" in request["messages"][1]["content"]


def _is_answer(request: dict[str, Any]) -> bool:
    return not _schema_name(request) and not _is_judge(request)


def _actions(request: dict[str, Any]) -> set[str]:
    schema = request["response_format"]["json_schema"]["schema"]
    forms = schema["properties"]["step"]["anyOf"]
    return {form["properties"]["action"]["enum"][0] for form in forms}


def _step(action: str, **fields: Any) -> str:
    return json.dumps({"step": {"action": action, **fields}})


def careful(request: dict[str, Any]) -> str:
    """Search, judge sufficient, answer rightly where notes are shown; make up the cat's name."""
    user = request["messages"][1]["content"]
    if _is_judge(request):
        reference = user.partition("REFERENCE: ")[2].split("\n")[0]
        said = user.partition("ANSWER: ")[2].split("\n")[0]
        return "Correct." if said == reference else "wrong"
    if _schema_name(request) == "step":
        if "memory_assess" in _actions(request):
            return _step("memory_assess", verdict="sufficient", items=[1, 2])
        return _step("memory_search_raw", query="where live dog")
    return "unknown" if "(there are no notes)" in user else ANSWERS[_question(request)]


def _result(tmp_path: Path) -> dict[str, Any]:
    return dict(read_results(tmp_path / "results.json").result)


def test_every_mode_is_answered_judged_and_summed_up(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.reply = careful
    done = eval_answers()
    assert done.exit_code == 0, done.output
    modes = _result(tmp_path)["modes"]
    assert list(modes) == ["memory", "plain", "gold", "none", "full", "grep"]
    shares = {
        name: tuple(
            mode["judges"]["strict"]["groups"][group]["majority"]
            for group in ("answerable", "unanswerable")
        )
        for name, mode in modes.items()
    }
    # Without notes the model says unknown, which is right for what cannot be known.
    assert shares == {
        "memory": (1.0, 0.0),
        "plain": (1.0, 0.0),
        "gold": (1.0, 1.0),
        "none": (0.0, 1.0),
        "full": (1.0, 0.0),
        "grep": (0.5, 1.0),  # no message says "called"; the dog is asked for in short words
    }
    memory = modes["memory"]
    assert memory["tools"] == {"memory_search_raw": 3, "memory_assess": 3, "memory_record_use": 3}
    assert memory["evidence"]["found_all"] == 2
    assert memory["judges"]["strict"]["failed_at"] == {Stage.SUFFICIENT_BUT_WRONG: 1}
    assert modes["none"]["judges"]["lenient"]["failed_at"] == {Stage.NOT_RETRIEVED: 2}
    assert modes["full"]["judges"]["strict"]["failed_at"] == {Stage.MADE_UP: 1}
    assert memory["cost"]["calls"] == 9
    assert (memory["cost"]["input_tokens"], memory["cost"]["output_tokens"]) == (900, 90)


def test_the_same_words_are_asked_in_every_mode_and_the_loop_only_grows(
    eval_answers: Command, stand_in: StandIn
) -> None:
    stand_in.reply = careful
    eval_answers("--questions", "1")
    plain = [r for r in stand_in.asked if _is_answer(r)]
    assert len({r["messages"][0]["content"] for r in plain}) == 1
    steps = [r for r in stand_in.asked if _schema_name(r) == "step"]
    first, second = (str(r["messages"][1]["content"]) for r in steps)
    assert second.startswith(first)
    assert "Do search_raw. And more." in str(steps[0]["messages"][0]["content"])
    assert steps[0]["max_tokens"] <= 80


def test_results_hold_no_text_of_the_data_or_the_model_and_no_secret(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.reply = careful
    eval_answers()
    for file in (tmp_path / "results.json", tmp_path / "out" / "text-free.jsonl"):
        written = file.read_text(encoding="utf-8")
        texts = [said for _, _, said in TALK] + [q["question"] for q in ASKED]
        for text in (*texts, *ANSWERS.values(), "where live dog", "hidden", "127.0.0.1"):
            assert text not in written
    assert "I moved to Oslo" in (tmp_path / "out" / "answers.jsonl").read_text(encoding="utf-8")


def test_a_run_is_continued_and_nothing_is_asked_twice(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.reply = careful
    eval_answers("--modes", "gold,none")
    first, asked = _result(tmp_path), len(stand_in.asked)
    with (tmp_path / "out" / "answers.jsonl").open("ab") as answers:
        answers.write(b'{"key": {"mode": "go')  # as a crash leaves it
    assert eval_answers("--modes", "gold,none").exit_code == 0
    assert len(stand_in.asked) == asked
    assert _result(tmp_path) == first
    eval_answers("--modes", "gold,none,plain", "--judges", "5")
    assert len(stand_in.asked) > asked
    assert _result(tmp_path)["modes"]["gold"]["answers"] == 3


def test_kept_replies_answer_what_a_lost_line_asks_again(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.reply = careful
    eval_answers("--modes", "gold")
    first, asked = _result(tmp_path), len(stand_in.asked)
    for name in ("answers.jsonl", "verdicts.jsonl"):
        (tmp_path / "out" / name).unlink()
    eval_answers("--modes", "gold")
    assert len(stand_in.asked) == asked
    assert _result(tmp_path)["modes"]["gold"]["judges"] == first["modes"]["gold"]["judges"]


def test_a_folder_of_another_run_is_refused(eval_answers: Command, stand_in: StandIn) -> None:
    eval_answers("--modes", "none")
    refused = eval_answers("--modes", "none", "--temperature", "1.0")
    assert isinstance(refused.exception, InvalidInput)
    assert "answer_temperature" in refused.exception.detail


def test_the_runs_of_a_judge_may_disagree_and_their_spread_is_told(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    def moody(request: dict[str, Any]) -> str:
        if not _is_judge(request):
            return careful(request)
        assert request["temperature"] > 0
        is_first = request["seed"] == min(seen | {request["seed"]})
        seen.add(request["seed"])
        return "wrong" if is_first else "correct"

    seen: set[int] = set()
    stand_in.reply = moody
    eval_answers("--modes", "gold", "--judges", "3")
    told = _result(tmp_path)["modes"]["gold"]["judges"]["strict"]["groups"]["answerable"]
    assert (told["run_least"], told["run_most"], told["split"]) == (0.0, 1.0, 2)
    assert told["mean"] == 2 / 3
    assert told["majority"] == 1.0
    assert len(seen) == 3


def test_each_system_seed_answers_anew_in_a_namespace_of_its_own(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    def second_seed_fails(request: dict[str, Any]) -> str:
        if _is_answer(request) and request["seed"] == 2:
            return "Paris"
        return careful(request)

    stand_in.reply = second_seed_fails
    eval_answers("--modes", "memory", "--seeds", "2")
    told = _result(tmp_path)["modes"]["memory"]["judges"]["strict"]["groups"]["answerable"]
    assert (told["answers"], told["seed_least"], told["seed_most"]) == (4, 0.0, 1.0)
    assert stand_in.turns == 2 * 2


def test_an_answer_before_any_retrieval_is_a_failure_of_its_own(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    def hasty(request: dict[str, Any]) -> str:
        return _step("answer") if _schema_name(request) == "step" else careful(request)

    stand_in.reply = hasty
    eval_answers("--modes", "memory")
    told = _result(tmp_path)["modes"]["memory"]
    assert told["judges"]["strict"]["failed_at"] == {Stage.NOT_RETRIEVED: 2}
    assert told["tools"] == {}


def test_a_spent_budget_ends_the_loop_and_the_answer_rests_on_all_that_was_shown(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    def doubting(request: dict[str, Any]) -> str:
        if _schema_name(request) == "step":
            if "memory_assess" in _actions(request):
                return _step("memory_assess", verdict="partial", items=[1])
            assert "answer" not in _actions(request) or "RESULT" not in str(request["messages"])
            return _step("memory_search_events", query="dog")
        return "Rex" if _is_answer(request) else careful(request)

    stand_in.reply = doubting
    eval_answers("--modes", "memory", "--budget", "2")
    told = _result(tmp_path)["modes"]["memory"]
    assert told["tools"] == {"memory_search_events": 6, "memory_assess": 6}
    assert told["judges"]["strict"]["failed_at"] == {
        Stage.FOUND_BUT_INSUFFICIENT: 2,
        Stage.BUDGET_SPENT: 1,
    }
    answers = (tmp_path / "out" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(json.loads(answers[0])["notes"]) == 3


def test_a_search_that_shows_nothing_new_is_told_so_and_closed_for_the_next_step(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    opened: list[set[str]] = []

    def stubborn(request: dict[str, Any]) -> str:
        if _schema_name(request) != "step":
            return careful(request)
        if "memory_assess" in _actions(request):
            return _step("memory_assess", items=[1], verdict="partial")
        opened.append(_actions(request) & {"memory_search_raw", "memory_search_events"})
        return _step(max(opened[-1]), query="dog")

    stand_in.reply = stubborn
    eval_answers("--modes", "memory", "--questions", "1")
    both = {"memory_search_raw", "memory_search_events"}
    assert opened == [both, both, {"memory_search_events"}]
    lines = (tmp_path / "out" / "answers.jsonl").read_text(encoding="utf-8")
    steps = json.loads(lines)["steps"]
    assert [len(step.get("shown", ())) for step in steps if "shown" in step] == [3, 1, 3]
    assert "seen before: 1, 2, 3" in lines


def test_evidence_that_no_tool_returned_was_never_found(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.hits = {"m3": TALK[2][2]}
    stand_in.reply = lambda r: "Rex" if _is_answer(r) else careful(r)
    eval_answers("--modes", "memory")
    told = _result(tmp_path)["modes"]["memory"]
    assert told["judges"]["strict"]["failed_at"][Stage.NEVER_FOUND] == 2
    assert told["evidence"]["sufficient_without_evidence"] == 2


def test_an_event_can_be_expanded_by_its_number(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    def deep(request: dict[str, Any]) -> str:
        if _schema_name(request) != "step":
            return careful(request)
        if "memory_expand_event" in _actions(request):
            return _step("memory_expand_event", item=2)
        if "memory_assess" in _actions(request):
            is_deep = "All of it" in request["messages"][1]["content"]
            verdict = "sufficient" if is_deep else "partial"
            return _step("memory_assess", verdict=verdict, items=[4] if is_deep else [])
        return _step("memory_search_events", query="dog")

    stand_in.reply = deep
    eval_answers("--modes", "memory", "--questions", "1")
    expanded = [a for name, a in stand_in.tool_calls if name == "memory_expand_event"]
    assert expanded == [{"event_id": "evt_m2"}]
    used = [a["evidence_refs"] for name, a in stand_in.tool_calls if name == "memory_record_use"]
    assert used == [["event:m2"]]


def test_what_cannot_be_read_is_asked_once_more_and_then_a_failure_of_the_model(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.reply = lambda r: "no json" if _schema_name(r) == "step" else "Rex"
    eval_answers("--modes", "memory")
    told = _result(tmp_path)["modes"]["memory"]
    assert told["judges"]["strict"]["failed_at"] == {Stage.MODEL_FAILED: 3}
    assert told["cost"]["calls"] == 3 * 3
    assert told["judges"]["strict"]["groups"]["answerable"]["unreadable"] == 6


def test_a_model_that_refuses_is_a_failure_and_is_asked_again_by_the_next_run(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    def refusing(_request: dict[str, Any]) -> str:
        raise KeyError

    stand_in.reply = refusing
    eval_answers("--modes", "gold")
    told = _result(tmp_path)["modes"]["gold"]
    assert told["judges"]["strict"]["failed_at"] == {Stage.MODEL_FAILED: 3}
    stand_in.reply = careful
    eval_answers("--modes", "gold")
    assert _result(tmp_path)["modes"]["gold"]["judges"]["strict"]["failed_at"] == {}


def test_advisories_of_the_gate_reach_the_answer_unless_they_are_switched_off(
    eval_answers: Command, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.reply = careful
    stand_in.advisories = ("nobody spoke of a cat",)

    def warned(out: str) -> list[bool]:
        answers = (tmp_path / out / "answers.jsonl").read_text(encoding="utf-8").splitlines()
        return ["nobody spoke of a cat" in str(json.loads(line)["notes"]) for line in answers]

    eval_answers("--modes", "memory")
    eval_answers("--modes", "memory", "--no-advisories", out="bare")
    assert warned("out") == [True, True, True]
    assert warned("bare") == [False, False, False]


def test_prices_make_a_cost(eval_answers: Command, stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.reply = careful
    eval_answers("--modes", "none", "--input-price", "2", "--output-price", "10")
    assert _result(tmp_path)["modes"]["none"]["cost"]["cost"] == 3 * (100 * 2 + 10 * 10) / 1e6


def test_unknown_names_are_told(eval_answers: Command) -> None:
    for arguments in (("--modes", "magic"), ("--conversations", "nowhere")):
        refused = eval_answers(*arguments)
        assert isinstance(refused.exception, InvalidInput)
        assert arguments[1] in refused.exception.detail
