"""The chapters on size: latency, index and context from a thousand events to a million."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workers.evaluation.report.figures import Figure, Line, Lines
from workers.evaluation.report.markdown import Section, number, source_line
from workers.evaluation.results import Results

_REQUESTS: Final = ("raw", "events", "graph", "context", "expand")
_KINDS: Final = ("common", "mixed")
_LARGE: Final = "large"
_MIB: Final = 2**20


def growth_section(results: Sequence[Results]) -> Section:
    """Return the chapter on growth: one row for each size that was run."""
    section = Section("Growth")
    ordered = sorted(results, key=_size)
    section.say(
        "One database for each size, with as many events as told. Asked is its largest namespace "
        "(about 13 % of a large database, 40 % of the smallest), by the use cases in one process, "
        "with questions of common words; p50/p95 in ms. The index is every search table with its "
        "indexes. Context is of a thread of at most 200 turns, whatever the database's size."
    )
    section.add_table(
        (
            "events", "messages", "namespaces", "asked one: messages",
            *(f"{name} ms" for name in _REQUESTS), "context tokens", "index MiB",
            "index bytes a document",
        ),
        (_row(one) for one in ordered),
        words=0,
    )  # fmt: skip
    if len(ordered) > 1:
        section.add_figure(_figure(ordered))
    section.say(source_line(*ordered))
    return section


def search_scale_section(results: Sequence[Results]) -> Section:
    """Return the chapter on search beside the least work, a table for each database."""
    section = Section("Search beside the least work")
    section.say(
        "*Ranked* is the store's query for the best 200, *least* is fetching those rows by primary "
        "key right after it, *whole* the use case with its transaction; p50/p95 in ms. The ratio "
        "is of the p95. Method: [search at scale](search-scale.md)."
    )
    for one in sorted(results, key=_size):
        section.say(f"### {one.path.stem}")
        section.add_table(
            ("namespace", "messages", "question", "search", "ranked", "least", "ratio", "whole"),
            _compared(one.result["searches"]),
            words=1,
        )
        written = ", ".join(f"{n:,} {how}" for how, n in one.result["inserts_per_s"].items())
        section.say(f"Messages indexed a second by one writer: {written}.")
        section.say(source_line(one))
    return section


def _size(one: Results) -> tuple[int, int, str]:
    return one.result["events"], one.result["messages"], one.path.name


def _row(one: Results) -> tuple[str, ...]:
    result = one.result
    large = result["searches"][_LARGE]
    told = large["common"]
    return (
        f"{result['events']:,}",
        f"{result['messages']:,}",
        f"{result['namespaces']:,}",
        f"{large['messages']:,}",
        *(_pair(told.get(f"{name} whole")) for name in _REQUESTS),
        number(told["context tokens"]["p50"]) if "context tokens" in told else "–",
        number(_index(result) / _MIB),
        number(_index(result) / (result["messages"] + 1.1 * result["events"])),
    )


def _index(result: Mapping[str, Any]) -> int:
    return sum(size for name, size in result["bytes"].items() if name.startswith("search_"))


def _figure(ordered: Sequence[Results]) -> Figure:
    def lines(shown: Mapping[str, str], *, at: str = "p50", dashed: bool = False) -> list[Line]:
        found = []
        for label, name in shown.items():
            known = [
                (one.result["events"], told[name][at])
                for one in ordered
                if name in (told := one.result["searches"][_LARGE]["common"])
            ]
            if known:
                xs, ys = zip(*known, strict=True)
                found.append(Line(label, list(xs), list(ys), dashed))
        return found

    whole = {f"{name} whole": name for name in _REQUESTS}
    requests = {name: key for key, name in whole.items()}
    events = [one.result["events"] for one in ordered]
    sizes = [
        Line("index", events, [_index(one.result) / _MIB for one in ordered]),
        Line("messages", events, [one.result["bytes"]["messages"] / _MIB for one in ordered]),
        Line("events", events, [one.result["bytes"]["events"] / _MIB for one in ordered]),
    ]
    return Figure(
        "growth",
        "Latency, size of the index and tokens of a context, by the events of the database",
        [
            Lines("Latency, p50", "events", "ms", lines(requests), log_x=True, log_y=True),
            Lines(
                "Latency, p95", "events", "ms", lines(requests, at="p95"), log_x=True, log_y=True
            ),
            Lines("Size on disk", "events", "MiB", sizes, log_x=True, log_y=True),
            Lines(
                "Context", "events", "estimated tokens",
                lines({"context": "context tokens"}), log_x=True,
            ),
        ],
        [one.digest for one in ordered],
    )  # fmt: skip


def _compared(searches: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            f"{answers['messages']:,}",
            kind,
            what,
            _pair(told[f"{what} ranked"]),
            _pair(told[f"{what} least"]),
            f"{told[f'{what} ranked']['p95'] / told[f'{what} least']['p95']:.1f}",
            _pair(told[f"{what} whole"]),
        )
        for name, answers in searches.items()
        for kind in _KINDS
        for told in [answers[kind]]
        for what in ("raw", "events", "graph")
    ]


def _pair(found: Mapping[str, float] | None) -> str:
    return "–" if found is None else f"{number(found['p50'])} / {number(found['p95'])}"
