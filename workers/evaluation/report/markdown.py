"""Pieces of a Markdown page: tables, figures as text, and where a table comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.evaluation.report.figures import Figure
from workers.evaluation.results import Results

_SHORT = 12


@dataclass(slots=True)
class Section:
    """One chapter: its heading, its paragraphs and tables, and the plots among them."""

    heading: str
    parts: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(text)

    def add_table(
        self, heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1
    ) -> None:
        """Add a table whose first `words` columns are words and whose others are figures."""
        marks = ["---"] * words + ["---:"] * (len(heads) - words)
        lines = [heads, marks, *([_cell(text) for text in row] for row in rows)]
        self.parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))

    def add_figure(self, figure: Figure) -> None:
        """Add a plot with its caption."""
        self.figures.append(figure)
        self.parts.append(f"![{figure.caption}](plots/{figure.name}.svg)")

    def text(self) -> str:
        """Return the chapter as Markdown."""
        return "\n\n".join([f"## {self.heading}", *self.parts])


def source_line(*sources: Results) -> str:
    """Return the small print under a table: file, commit, configuration, data and machine."""
    return "\n".join(f"<sub>{_source(one)}</sub>\n" for one in sources).rstrip("\n")


def percent(value: float | None, *, digits: int = 1) -> str:
    """Return a share as a percentage without its sign, "–" for None."""
    # Adding 0 makes a negative zero, which resampling leaves, a plain one.
    return "–" if value is None else f"{round(100 * value, digits) + 0:.{digits}f}"


def between(value: float, low: float | None, high: float | None) -> str:
    """Return a share with its interval, all in percent."""
    if low is None or high is None:
        return percent(value)
    return f"{percent(value)} ({percent(low)} to {percent(high)})"


def points(value: float | None) -> str:
    """Return a change of a share in percentage points, with its sign."""
    if value is None:
        return "–"
    told = f"{100 * value:+.1f}"
    return "0.0" if told in {"+0.0", "-0.0"} else told.replace("-", "−")


def number(value: float | None) -> str:
    """Return a figure with as many digits as it deserves: 3 of small ones, whole large ones."""
    if value is None:
        return "–"
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _source(one: Results) -> str:
    commit, _, changes = one.commit.partition("+")
    data = "none" if one.data is None else f"{one.data['name']} ({one.data['sha256'][:_SHORT]})"
    told = {
        "commit": commit[:_SHORT] if " " not in commit else commit,
        "configuration": _plain(one.configuration) or "default",
        "data": data,
        "machine": _machine(one.machine),
        "measured": f"{one.made_at:%Y-%m-%d %H:%M} UTC",
    }
    if changes:
        told["commit"] += " with uncommitted changes"
    facts = " · ".join(f"{name}: {value}" for name, value in told.items())
    return f"[{one.path.name}](results/{one.path.name}) · {facts}"


def _machine(machine: Mapping[str, Any]) -> str:
    postgres = f", Postgres {machine['postgres']}" if machine.get("postgres") else ""
    load = f", load {machine['load']:g}" if "load" in machine else ""
    return (
        f"{machine['processors']} × {machine['model']}, {machine['memory_mib']:,} MiB, "
        f"{machine['system']}, Python {machine['python']}{postgres}{load}"
    )


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_inner(one)}" for name, one in value.items())
    return _inner(value)


def _inner(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case Mapping():
            return f"({_plain(value)})"
        case list():
            return f"[{', '.join(_inner(one) for one in value)}]"
        case _:
            return str(value).replace("<", "&lt;")
