"""Curves as small drawings: their colours follow the theme, and words say what they show.

Drawn here rather than by a chart library: they are a few points, and a screen reader is told them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from nicegui import ui

_WIDTH, _HEIGHT = 460, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 10, 12, 34
_PLOT_W, _PLOT_H = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
_TICKS = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One column of a decay curve: how far along, the weight there, and the level it gives."""

    at: int
    weight: float
    level: int


def decay_drawing(steps: Sequence[Step], *, here: int, words: str) -> ui.element:
    """Draw a weight that falls block by block, each column in its level's colour.

    `here` is the column the block stands at now; `words` say the same for who cannot see it.
    """
    wide = _PLOT_W / max(1, len(steps))
    parts = [_axes("ready blocks since the anchor")]
    for number, step in enumerate(steps):
        x, top = _LEFT + number * wide, _y(step.weight)
        is_here = step.at == here
        parts.append(
            f'<rect x="{x + 1:.1f}" y="{top:.1f}" width="{wide - 2:.1f}" rx="2" '
            f'height="{_TOP + _PLOT_H - top:.1f}" '
            f'style="fill:var(--sg-level-{step.level});opacity:{1 if is_here else 0.55}"/>'
        )
        middle = x + wide / 2
        if is_here:
            parts.append(_marker(middle, top))
        parts += _level_label(steps, number, x=middle + 9 if is_here else x + 3, top=top)
        if number % max(1, len(steps) // _TICKS) == 0:
            parts.append(_label(middle, _HEIGHT - 18, str(step.at)))
    return _drawing(parts, words)


def weight_drawing(
    points: Sequence[tuple[int, float]], *, here: int, unit: str, words: str
) -> ui.element:
    """Draw a weight that falls with turns, and a mark where it stands now."""
    last = max(1, points[-1][0]) if points else 1
    places = [(_LEFT + _PLOT_W * at / last, _y(weight)) for at, weight in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    base = _TOP + _PLOT_H
    parts = [_axes(unit)]
    if places:
        parts.append(
            f'<polygon points="{_LEFT},{base} {line} {places[-1][0]:.1f},{base}" '
            'style="fill:var(--sg-accent-soft)"/>'
            f'<polyline points="{line}" fill="none" stroke-width="2" '
            'style="stroke:var(--sg-accent)"/>'
        )
        x, y = min(zip(places, points, strict=True), key=lambda one: abs(one[1][0] - here))[0]
        parts.append(_marker(x, y))
    parts += [
        _label(_LEFT + _PLOT_W * share, _HEIGHT - 18, f"{last * share:.0f}")
        for share in (0, 0.25, 0.5, 0.75, 1)
    ]
    return _drawing(parts, words)


def _drawing(parts: Sequence[str], words: str) -> ui.element:
    svg = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(words)}" '
        f'focusable="false">{"".join(parts)}</svg>'
    )
    return ui.html(svg, sanitize=False).classes("sg-drawing")


def _axes(unit: str) -> str:
    lines = "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(share):.1f}" y2="{_y(share):.1f}" '
        'class="sg-grid"/>' + _label(_LEFT - 6, _y(share) + 4, f"{share:g}", anchor="end")
        for share in (0, 0.5, 1)
    )
    return lines + _label(_LEFT + _PLOT_W / 2, _HEIGHT - 3, unit)


def _level_label(steps: Sequence[Step], number: int, *, x: float, top: float) -> list[str]:
    """Name a level above the first column that has it."""
    if number and steps[number - 1].level == steps[number].level:
        return []
    return [_label(x, max(_TOP - 2, top - 5), f"L{steps[number].level}", anchor="start")]


def _marker(x: float, y: float) -> str:
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{_TOP + _PLOT_H}" class="sg-here-line"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="sg-here"/>'
    )


def _label(x: float, y: float, said: str, *, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def _y(weight: float) -> float:
    return _TOP + _PLOT_H * (1 - weight)
