"""The figures of a run: correctness by mode, judge and category, failures by stage, cost."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from workers.evaluation.answering.answered import Answered, Mode
from workers.evaluation.answering.artefacts import Artefacts
from workers.evaluation.answering.judging import Verdict, VerdictKey
from workers.evaluation.answering.running import Plan
from workers.evaluation.answering.stages import failed_at

ANSWERABLE: Final = "answerable"
UNANSWERABLE: Final = "unanswerable"
_Z: Final = 1.959964
"""Of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency."""

    input_per_million: float = 0.0
    output_per_million: float = 0.0

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of so many tokens."""
        spent = input_tokens * self.input_per_million + output_tokens * self.output_per_million
        return spent / 1_000_000


def summary_of(plan: Plan, artefacts: Artefacts, prices: Prices) -> dict[str, Any]:
    """Return all figures and, for each answer, its text-free record with its verdicts."""
    modes = {mode.value: _mode(plan, artefacts, mode, prices) for mode in plan.modes}
    answers = [
        {
            **artefacts.answers[key].without_text(),
            "verdicts": {
                j: _verdicts(plan, artefacts, artefacts.answers[key], j) for j in plan.judges
            },
        }
        for mode in plan.modes
        for key in plan.answers(mode)
    ]
    judging = [
        v for j in plan.judges for v in map(artefacts.verdicts.__getitem__, plan.verdicts(j))
    ]
    return {"modes": modes, "judging": _judging(judging, prices), "answers": answers}


def majority(verdicts: Sequence[bool | None]) -> bool:
    """Whether most runs call an answer correct; a tie or none does not."""
    return 2 * sum(bool(v) for v in verdicts) > len(verdicts)


def interval(correct: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, (0, 1) without any."""
    if count == 0:
        return 0.0, 1.0
    share, square = correct / count, _Z * _Z
    middle = (share + square / (2 * count)) / (1 + square / count)
    spread = math.sqrt(share * (1 - share) / count + square / (4 * count * count))
    half = _Z * spread / (1 + square / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def _mode(plan: Plan, artefacts: Artefacts, mode: Mode, prices: Prices) -> dict[str, Any]:
    answers = [artefacts.answers[key] for key in plan.answers(mode)]
    return {
        "answers": len(answers),
        "judges": {j: _judge(plan, artefacts, answers, j) for j in plan.judges},
        "evidence": _evidence(answers),
        "abstained": {
            ANSWERABLE: sum(a.is_abstention for a in answers if a.answerable),
            UNANSWERABLE: sum(a.is_abstention for a in answers if not a.answerable),
        },
        "tools": dict(sum((Counter(a.tools) for a in answers), Counter())),
        "cost": _cost(answers, prices),
    }


def _judge(
    plan: Plan, artefacts: Artefacts, answers: Sequence[Answered], judge: str
) -> dict[str, Any]:
    groups: dict[str, list[Answered]] = {ANSWERABLE: [], UNANSWERABLE: []}
    for answered in answers:
        groups[ANSWERABLE if answered.answerable else UNANSWERABLE].append(answered)
        groups.setdefault(f"category {answered.category}", []).append(answered)
    told = {a.key: _verdicts(plan, artefacts, a, judge) for a in answers}
    wrong = [a for a in answers if not majority(told[a.key])]
    return {
        "groups": {name: _figures(plan, group, told) for name, group in groups.items() if group},
        "failed_at": dict(Counter(failed_at(a).value for a in wrong)),
        "wrong_though_sufficient_without_evidence": sum(
            a.is_sufficient and a.answerable and not a.finds_evidence for a in wrong
        ),
    }


def _figures(
    plan: Plan, group: Sequence[Answered], told: Mapping[Any, Sequence[bool | None]]
) -> dict[str, Any]:
    """Return a group's correctness.

    `mean` is over answers and runs, `run_*` over the runs of the judge, `seed_*` over the system
    seeds (majority of the runs); `split` counts answers on which runs disagree.
    """
    rows = [told[a.key] for a in group]
    runs = [sum(bool(row[run]) for row in rows) / len(rows) for run in range(plan.judge_runs)]
    correct = sum(majority(row) for row in rows)
    low, high = interval(correct, len(rows))
    seeds = [
        statistics.fmean(majority(told[a.key]) for a in group if a.key.seed == seed)
        for seed in plan.seeds
    ]
    return {
        "answers": len(rows),
        "mean": statistics.fmean(runs),
        "majority": correct / len(rows),
        "majority_interval": [low, high],
        "run_least": min(runs),
        "run_most": max(runs),
        "run_deviation": statistics.pstdev(runs),
        "seed_least": min(seeds),
        "seed_most": max(seeds),
        "seed_deviation": statistics.pstdev(seeds),
        "split": sum(len(set(row)) > 1 for row in rows),
        "unreadable": sum(v is None for row in rows for v in row),
    }


def _evidence(answers: Sequence[Answered]) -> dict[str, Any]:
    labelled = [a for a in answers if a.answerable and a.gold]
    return {
        "labelled": len(labelled),
        "found_any": sum(a.finds_evidence for a in labelled),
        "found_all": sum(a.finds_all_evidence for a in labelled),
        "judged_sufficient": sum(a.is_sufficient for a in answers),
        "sufficient_without_evidence": sum(
            a.is_sufficient and not a.finds_evidence for a in labelled
        ),
    }


def _cost(answers: Sequence[Answered], prices: Prices) -> dict[str, Any]:
    tokens_in = sum(a.input_tokens for a in answers)
    tokens_out = sum(a.output_tokens for a in answers)
    took = sorted(a.seconds for a in answers)
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "calls": sum(a.calls for a in answers),
        "cost": prices.cost(tokens_in, tokens_out),
        "seconds_p50": _percentile(took, 0.5),
        "seconds_p95": _percentile(took, 0.95),
    }


def _judging(verdicts: Sequence[Verdict], prices: Prices) -> dict[str, Any]:
    tokens_in = sum(v.input_tokens for v in verdicts)
    tokens_out = sum(v.output_tokens for v in verdicts)
    return {
        "verdicts": len(verdicts),
        "by_rule": sum(v.by_rule for v in verdicts),
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "cost": prices.cost(tokens_in, tokens_out),
        "seconds": sum(v.seconds for v in verdicts),
    }


def _verdicts(
    plan: Plan, artefacts: Artefacts, answered: Answered, judge: str
) -> list[bool | None]:
    keys = [VerdictKey(answered.key, judge, run) for run in range(1, plan.judge_runs + 1)]
    return [artefacts.verdicts[key].is_correct for key in keys]


def _percentile(ascending: Sequence[float], share: float) -> float:
    """Return the nearest rank."""
    place = math.ceil(share * len(ascending)) - 1
    return round(ascending[max(0, place)], 2) if ascending else 0.0
