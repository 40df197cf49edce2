"""A conversation written for the demo: forty turns over seven weeks in two threads.

A package manager is chosen and replaced, for a reason; there is a plan, a preference, an allergy,
small talk, a tool result and a passage in Chinese.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

BERLIN = "Europe/Berlin"
SHANGHAI = "Asia/Shanghai"


@dataclass(frozen=True, slots=True)
class DemoTurn:
    """One turn: when and where it was said, and what the two said."""

    thread_id: str
    occurred_at: str
    user: str
    assistant: str
    timezone: str = BERLIN
    tool_calls: tuple[dict[str, Any], ...] = field(default=())

    def body(self, number: int) -> dict[str, Any]:
        """Return the turn as the API takes it."""
        reply: dict[str, Any] = {"role": "assistant", "content": self.assistant}
        if self.tool_calls:
            reply["tool_calls"] = list(self.tool_calls)
        return {
            "thread_id": self.thread_id,
            "receipt_id": f"demo-{number:03d}",
            "occurred_at": self.occurred_at,
            "timezone": self.timezone,
            "messages": [{"role": "user", "content": self.user}, reply],
        }


def _work(at: str, user: str, assistant: str, *tool_calls: dict[str, Any]) -> DemoTurn:
    return DemoTurn("orion", at, user, assistant, BERLIN, tool_calls)


def _home(at: str, user: str, assistant: str, zone: str = BERLIN) -> DemoTurn:
    return DemoTurn("home", at, user, assistant, zone)


TURNS: tuple[DemoTurn, ...] = (
    _work(
        "2026-02-02T09:00:00+01:00",
        "Good morning! I am setting up the Orion project today, with Mara Lindqvist.",
        "Good morning! A fresh start. What shall we look at first?",
    ),
    _work(
        "2026-02-02T09:04:00+01:00",
        "We decided to use npm as the package manager of Orion.",
        "Noted: Orion uses npm as its package manager.",
    ),
    _work(
        "2026-02-02T09:10:00+01:00",
        "Mara works at the Harbour Institute and leads the design.",
        "Good to know who leads the design.",
    ),
    _work("2026-02-02T09:12:00+01:00", "Thanks!", "You are welcome."),
    _home(
        "2026-02-03T19:30:00+01:00",
        "I am allergic to peanuts, so please never suggest a recipe with them.",
        "Understood: no peanuts, ever.",
    ),
    _home(
        "2026-02-03T19:35:00+01:00",
        "I prefer recipes that take less than thirty minutes.",
        "Short recipes it is.",
    ),
    _work(
        "2026-02-05T10:00:00+01:00",
        "Yesterday we finished the first prototype of Orion.",
        "Congratulations on the prototype.",
    ),
    _work(
        "2026-02-05T10:05:00+01:00",
        "Can you check which tests of Orion fail?",
        "Two tests fail: test_login and test_export.",
        {
            "name": "run_tests",
            "arguments": {"path": "tests/"},
            "result": {"ok": False, "passed": 118, "failed": ["test_login", "test_export"]},
        },
    ),
    _work(
        "2026-02-05T10:30:00+01:00",
        "I fixed test_login and test_export this morning.",
        "Then the suite is green again.",
    ),
    _work("2026-02-05T10:31:00+01:00", "Yes.", "Great."),
    _home(
        "2026-02-07T18:00:00+01:00",
        "What could I cook with spinach and chickpeas?",
        "A quick spinach and chickpea curry takes twenty minutes.",
    ),
    _home("2026-02-07T18:20:00+01:00", "Lovely, thank you.", "Enjoy your meal."),
    _work(
        "2026-02-11T11:00:00+01:00",
        "Installing packages takes four minutes in CI, and the lock file conflicts all the time.",
        "That is slow. The lock file conflicts come from the way npm writes it.",
    ),
    _work(
        "2026-02-11T11:10:00+01:00",
        "Orion switched from npm to pnpm because the lock file conflicts cost us hours.",
        "Understood: pnpm replaces npm in Orion because of the lock file conflicts.",
    ),
    _work(
        "2026-02-11T11:20:00+01:00",
        "Please keep commit messages short, I like them under sixty characters.",
        "I will keep them under sixty characters.",
    ),
    _work(
        "2026-02-11T11:25:00+01:00",
        "The staging server is called Fjord.",
        "Staging is Fjord.",
    ),
    _work(
        "2026-02-18T14:00:00+01:00",
        "We plan to release Orion 1.0 on 20 March 2026.",
        "A release on 20 March: noted as a plan.",
    ),
    _work(
        "2026-02-18T14:10:00+01:00",
        "Mara will present the release at the Harbour Institute next Thursday.",
        "A presentation by Mara next Thursday.",
    ),
    _work("2026-02-18T14:11:00+01:00", "ok", "Anything else?"),
    _work(
        "2026-02-18T14:20:00+01:00",
        "The database of Orion is Postgres 18.",
        "Postgres 18 it is.",
    ),
    _home(
        "2026-02-21T10:00:00+01:00",
        "My sister Elin is visiting next weekend.",
        "How nice. Shall we plan a meal?",
    ),
    _home(
        "2026-02-21T10:05:00+01:00",
        "Yes, she is a vegetarian.",
        "A vegetarian meal for Elin, then.",
    ),
    _home(
        "2026-02-21T10:15:00+01:00",
        "Let us cook mushroom risotto on Saturday.",
        "Mushroom risotto on Saturday. No peanuts in it.",
    ),
    _home("2026-02-21T10:16:00+01:00", "Perfect!", "See you then."),
    _work(
        "2026-02-25T09:30:00+01:00",
        "会议室在三楼。",
        "记下了,会议室在三楼。",
    ),
    _work(
        "2026-02-25T09:40:00+01:00",
        "说错了,会议室在五楼。",
        "已更正:会议室在五楼。",
    ),
    _work(
        "2026-02-25T09:45:00+01:00",
        "我们决定下周三和供应商开会。",
        "好的,下周三和供应商开会。",
    ),
    _work("2026-02-25T09:46:00+01:00", "好的", "还有别的事吗?"),
    _work(
        "2026-03-02T16:00:00+01:00",
        "There was an outage of Fjord last night: the disk was full.",
        "A full disk took Fjord down last night.",
    ),
    _work(
        "2026-03-02T16:10:00+01:00",
        "We moved the logs of Fjord to another disk two hours ago.",
        "Then the disk will not fill up again.",
    ),
    _work(
        "2026-03-02T16:20:00+01:00",
        "Jonas Weber joined the Orion team, he takes over testing.",
        "Welcome to Jonas Weber.",
    ),
    _work(
        "2026-03-02T16:25:00+01:00",
        "How is the weather where you are?",
        "I have no weather, but I hope yours is fine.",
    ),
    _home(
        "2026-03-08T20:00:00+01:00",
        "Elin's visit was great, we went to the Maritime Museum.",
        "That sounds like a good day.",
    ),
    _home(
        "2026-03-08T20:05:00+01:00",
        "I started learning the cello last month.",
        "A fine instrument to learn.",
    ),
    _home("2026-03-08T20:06:00+01:00", "Good night!", "Good night!"),
    _work(
        "2026-03-16T11:00:00+01:00",
        "The release of Orion 1.0 is postponed to 27 March 2026, the export is not ready.",
        "Postponed to 27 March because of the export.",
    ),
    _work(
        "2026-03-16T11:05:00+01:00",
        "Jonas found the cause of the slow export.",
        "Good news. What was it?",
    ),
    _work(
        "2026-03-16T11:10:00+01:00",
        "It was a missing index, he added it three days ago.",
        "A missing index, added three days ago.",
    ),
    _work(
        "2026-03-20T15:00:00+01:00",
        "For the report: the whole team was on pnpm two days after we switched.",
        "The whole team was on pnpm within two days.",
    ),
    _work(
        "2026-03-20T15:05:00+01:00",
        "And the old npm cache was deleted last Tuesday.",
        "The npm cache is gone since last Tuesday.",
    ),
)
"""The turns in the order they were said, except that each thread has its own time."""
