"""Draw the report's figures with matplotlib: the same results give the same bytes.

Each SVG names the digests of the results behind it, so that a stale one can be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from shared.errors import InvalidInput
from workers.evaluation.report.figures import Bars, Dots, Figure, Lines, Panel

_WIDTH: Final = 9.0
_ROW: Final = 0.28
_LINES_HEIGHT: Final = 3.6
_SETTINGS: Final = {
    "svg.hashsalt": "stratagate",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw(figures: Sequence[Figure], folder: Path) -> None:
    """Write each figure as an SVG and remove the folder's others.

    Raises InvalidInput (`no_matplotlib`) where matplotlib is not installed.
    """
    matplotlib = _matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.svg"):
        if stale.stem not in {figure.name for figure in figures}:
            stale.unlink()
    with matplotlib.rc_context(_SETTINGS):
        for figure in figures:
            _draw(figure, folder / f"{figure.name}.svg")


def _matplotlib() -> Any:
    try:
        matplotlib = import_module("matplotlib")
    except ImportError as error:
        raise InvalidInput(
            "the plots need matplotlib, which is not installed: "
            "run `.venv/bin/python -m pip install '.[evaluation]'`",
            code="no_matplotlib",
        ) from error
    # A page is made without a screen, and without whatever style a user has set.
    matplotlib.use("svg")
    matplotlib.rcdefaults()
    return matplotlib


def _draw(figure: Figure, path: Path) -> None:
    heights = [_height(panel) for panel in figure.panels]
    pyplot = import_module("matplotlib.pyplot")
    drawing, axes = pyplot.subplots(
        len(figure.panels),
        1,
        figsize=(_WIDTH, sum(heights)),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    for panel, ax in zip(figure.panels, axes[:, 0], strict=True):
        ax.set_title(panel.title, loc="left", fontsize=10)
        ax.set_xlabel(panel.x_label)
        match panel:
            case Lines():
                _draw_lines(panel, ax)
            case Dots():
                _draw_dots(panel, ax)
            case Bars():
                _draw_bars(panel, ax)
    drawing.savefig(
        path,
        format="svg",
        metadata={
            "Date": None,
            "Creator": "stratagate eval report",
            "Title": figure.caption,
            "Description": " ".join(figure.digests),
        },
    )
    pyplot.close(drawing)


def _height(panel: Panel) -> float:
    match panel:
        case Lines():
            return _LINES_HEIGHT
        case Dots():
            return 1.0 + _ROW * len(panel.dots)
        case Bars():
            return 1.2 + _ROW * max(len(panel.labels), len(panel.parts))


def _draw_lines(panel: Lines, ax: Any) -> None:
    for line in panel.lines:
        style = "--" if line.is_dashed else "-"
        ax.plot(line.xs, line.ys, style, marker="o", markersize=3, linewidth=1.3, label=line.name)
    ax.set_ylabel(panel.y_label)
    if panel.log_x:
        ax.set_xscale("log")
    if panel.log_y:
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0)
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _draw_dots(panel: Dots, ax: Any) -> None:
    rows = list(range(len(panel.dots)))
    for row, dot in zip(rows, panel.dots, strict=True):
        if dot.low is not None and dot.high is not None:
            ax.plot([dot.low, dot.high], [row, row], color="tab:blue", linewidth=1.5, alpha=0.6)
        ax.plot([dot.value], [row], "o", color="tab:blue", markersize=5)
    if panel.has_zero:
        ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(rows, [dot.label for dot in panel.dots])
    ax.set_ylim(len(rows) - 0.5, -0.5)


def _draw_bars(panel: Bars, ax: Any) -> None:
    left = [0.0] * len(panel.labels)
    for part in panel.parts:
        ax.barh(list(panel.labels), list(part.values), left=left, height=0.6, label=part.name)
        left = [start + value for start, value in zip(left, part.values, strict=True)]
    ax.invert_yaxis()
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
