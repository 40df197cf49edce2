from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

HOME = "/v1/namespaces/project:ruled"
EVERY_FIELD: dict[str, Any] = {
    "block_turn_size": 8,
    "block_decay_lambda": 0.45,
    "ingest_subagents": True,
    "language": "de",
    "redaction": "redact_source",
    "retention_days": 90,
    "provider": "openai",
    "model": "some-model",
    "max_output_tokens": 256,
    "token_budget": 100_000,
    "stages": {"extract": True, "project": False, "embed": True},
}
GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "lambda_suggestion.json"
CASES = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("verb", ["PUT", "PATCH"])
def test_every_field_of_a_policy_is_set_held_and_shown(api: httpx.Client, verb: str) -> None:
    api.put(HOME, json={})
    answer = api.request(verb, HOME, json=EVERY_FIELD)
    assert answer.status_code == 200
    view = api.get(HOME).json()
    assert view["overrides"] == EVERY_FIELD
    assert {name: view["policy"][name] for name in EVERY_FIELD} == EVERY_FIELD
    assert ["above 0.40" in warning for warning in view["warnings"]] == [True]
    assert {"turns", "blocks", "jobs", "events", "nodes"} <= view["counts"].keys()


def test_the_default_policy_takes_every_field_too(api: httpx.Client) -> None:
    assert api.patch("/v1/policy", json=EVERY_FIELD).status_code == 200
    api.put(HOME, json={})
    view = api.get(HOME).json()
    assert view["overrides"] == {}
    assert {name: view["policy"][name] for name in EVERY_FIELD} == EVERY_FIELD


def test_an_own_field_wins_over_the_default_and_the_default_over_the_settings(
    api: httpx.Client,
) -> None:
    api.patch(
        "/v1/policy", json={"block_turn_size": 9, "token_budget": 10, "stages": {"embed": True}}
    )
    api.put(HOME, json={"block_turn_size": 3, "stages": {"extract": False}})
    policy = api.get(HOME).json()["policy"]
    assert (policy["block_turn_size"], policy["token_budget"]) == (3, 10)
    assert policy["stages"] == {"extract": False, "project": True, "embed": True}
    assert policy["block_decay_lambda"] == 0.3


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"max_output_tokens": 255}, "/max_output_tokens"),
        ({"retention_days": 0}, "/retention_days"),
        ({"block_decay_lambda": -0.1}, "/block_decay_lambda"),
        ({"block_turn_size": 1.5}, "/block_turn_size"),
        ({"token_budget": -1}, "/token_budget"),
        ({"stages": {"extract": "no"}}, "/stages/extract"),
        ({"model": "only"}, ""),
        ({"tenant_token_budget": 5}, "/tenant_token_budget"),
    ],
)
@pytest.mark.parametrize("verb", ["PUT", "PATCH"])
def test_a_field_out_of_its_range_is_422_and_changes_nothing(
    api: httpx.Client, verb: str, body: dict[str, Any], pointer: str
) -> None:
    api.put(HOME, json={"language": "de"})
    answer = api.request(verb, HOME, json=body)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert api.get(HOME).json()["overrides"] == {"language": "de"}


@pytest.mark.parametrize("case", CASES[::9], ids=lambda case: case["name"])
@pytest.mark.parametrize("asked", [False, True])
def test_a_new_block_size_answers_with_the_golden_lambda_and_applies_it_if_asked(
    api: httpx.Client, case: dict[str, Any], asked: bool
) -> None:
    given, expected = case["input"], case["output"]
    before = {"block_turn_size": given["currentSize"], "block_decay_lambda": given["lambda"]}
    api.put(HOME, json=before)
    change = {"block_turn_size": given["newSize"], "apply_suggested_lambda": asked}
    view = api.patch(HOME, json=change).json()
    shown = expected["suggested"] if expected["show"] else None
    assert view["suggested_block_decay_lambda"] == shown
    holds = shown if asked and shown is not None else given["lambda"]
    assert view["policy"]["block_decay_lambda"] == holds
