"""What block size and λ do: a strip of levels over the turns that follow, as it is and would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from retrieval.console.components.figures import counted
from retrieval.console.components.text import text
from retrieval.console.decay import DEEPEST, level_after

_LONGEST_BLOCKS = 24
_TICKS = 6


@dataclass(frozen=True, slots=True)
class Fading:
    """A block size in turns, and a decay rate a block."""

    size: int
    decay_lambda: float

    @classmethod
    def of(cls, policy: Mapping[str, Any]) -> Fading:
        """Return what a policy says."""
        return cls(int(policy["block_turn_size"]), float(policy["block_decay_lambda"]))

    def spans(self, turns: int) -> list[tuple[int, int]]:
        """Return (level, turns it is held) until `turns` have passed, deepest level first."""
        held: dict[int, int] = {}
        for newer in range(-(-turns // self.size)):
            level = level_after(newer, self.decay_lambda)
            held[level] = held.get(level, 0) + min(self.size, turns - newer * self.size)
        return sorted(held.items(), reverse=True)

    @property
    def turns_to_title(self) -> int:
        """Turns until only the title is left, bounded."""
        blocks = next((n for n in range(_LONGEST_BLOCKS) if self.level(n) == 0), _LONGEST_BLOCKS)
        return (blocks + 1) * self.size

    def level(self, newer: int) -> int:
        """Return the level after `newer` blocks."""
        return level_after(newer, self.decay_lambda)

    def words(self) -> str:
        """Say the strip in words."""
        spans = self.spans(self.turns_to_title)
        said = [f"L{level} for {counted(turns, 'turn')}" for level, turns in spans if level]
        title = f", then the title alone after {counted(self.turns_to_title - self.size, 'turn')}"
        return ", ".join(said) + (title if spans[-1][0] == 0 else ", and no further")


def fading_picture(now: Fading, then: Fading | None) -> None:
    """Draw the strip as it is, and below it as it would be, over the same turns."""
    turns = max(one.turns_to_title for one in (now, then or now))
    with ui.element("figure").classes("sg-fading"):
        _strip("As it is", now, turns)
        if then is not None:
            _strip("As you set it", then, turns)
        with ui.element("div").classes("sg-fading-scale").props("aria-hidden=true"):
            for number in range(_TICKS):
                text(str(round(turns * number / (_TICKS - 1))))
        caption = "Turns since a block was sealed, and the level at which it is carried along."
        text(caption, "figcaption", classes="sg-hint")


def _strip(name: str, fading: Fading, turns: int) -> None:
    said = f"{name}: {fading.words()}."
    text(f"{name} – {fading.size} turns, λ {fading.decay_lambda:.2f}", "p", classes="sg-hint")
    with ui.element("div").classes("sg-fading-strip").props("role=img") as strip:
        strip.props["aria-label"] = said
        for level, held in fading.spans(turns):
            cell = ui.element("div").classes(f"sg-fading-cell sg-level-{level}")
            cell.style(f"flex: {held} 1 0")
            with cell:
                text(f"L{level}")
                if level in (DEEPEST, 0):
                    text("whole" if level else "title", classes="sg-fading-note")
