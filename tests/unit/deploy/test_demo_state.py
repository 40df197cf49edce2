from __future__ import annotations

from typing import Any

from deploy.demo_state import state_lines


def belief(key: str, value: str | list[str], **fields: Any) -> dict[str, Any]:
    is_current = fields.pop("is_current", True)
    fact = {
        "key": key,
        "value": value,
        "status": "current",
        "is_planned": False,
        "valid_from": "2026-03-02T09:00:00+00:00",
        **fields,
    }
    return {"fact": fact, "edge": None, "is_current": is_current}


def test_lists_are_joined_as_english_text_joins_them() -> None:
    now, _ = state_lines([belief("tools", ["pnpm", "vite"]), belief("tools", "vitest")])
    assert now == ["tools: pnpm, vite, vitest (since 2026-03-02)"]


def test_a_plan_is_marked_and_never_joined_with_what_is_so() -> None:
    now, _ = state_lines([belief("city", "Porto"), belief("city", "Lisbon", is_planned=True)])
    assert now == ["city: Porto (since 2026-03-02)", "city: Lisbon [planned]"]


def test_what_holds_long_since_says_since_when_and_what_is_done_says_when_it_was() -> None:
    long_ago = "2024-01-05T00:00:00+00:00"
    now, _ = state_lines(
        [belief("role", "lead", valid_from=long_ago), belief("done", "beta", valid_from=long_ago)]
    )
    assert now == ["role: lead (since 2024-01-05)", "done: beta (on 2024-01-05)"]


def test_what_is_over_stands_apart_and_what_is_disputed_says_so() -> None:
    now, before = state_lines(
        [belief("build", "npm", is_current=False), belief("build", "pnpm", status="disputed")]
    )
    assert (now, before) == (["build: pnpm [disputed]"], ["build: npm"])


def test_edges_and_facts_without_a_known_beginning_are_no_obstacle() -> None:
    edge = {"fact": None, "edge": {}, "is_current": True}
    assert state_lines([edge, belief("a", "b", valid_from=None)]) == (["a: b"], [])
