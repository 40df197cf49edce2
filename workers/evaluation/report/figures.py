"""Plots as data: what a section wants drawn, so that the page can be made without drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a panel."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """A panel of lines with marks at the measured points."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """One value with its interval, `low` and `high` None where it has none."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Dots:
    """A panel of values with intervals, one a row; with `has_zero` a forest plot around 0."""

    title: str
    x_label: str
    dots: Sequence[Dot]
    has_zero: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One colour of stacked bars: its value in each bar."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Bars:
    """A panel of stacked horizontal bars."""

    title: str
    x_label: str
    labels: Sequence[str]
    parts: Sequence[Part]


Panel: TypeAlias = Lines | Dots | Bars


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot: its file's stem, what it shows in words, its panels, and the digests behind it."""

    name: str
    caption: str
    panels: Sequence[Panel]
    digests: Sequence[str]
