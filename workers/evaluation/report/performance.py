"""The chapters on performance that are tables alone: ingest, pipeline, re-projection, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workers.evaluation.report.figures import Bars, Figure, Part
from workers.evaluation.report.markdown import Section, number, source_line
from workers.evaluation.results import Results

_PIPELINE: Final = {
    "blocks": "blocks of the load",
    "turns_a_block": "turns of a block",
    "noop_per_s": "no-op tasks a second",
    "jobs_per_s": "pipeline jobs a second",
    "ratio": "ratio of the rates",
    "cpu_ratio": "ratio of CPU times, no-op by job",
    "cpu_ms_per_job": "CPU ms a job",
    "cpu_ms_per_noop": "CPU ms a no-op",
    "noop_round_trip_ms": "round trip of a no-op, median ms",
    "sealed_to_ready_p50_ms": "sealed to ready, p50 ms",
    "poll_p50_ms": "of it waiting for the relay's poll, p50 ms",
    "ring_to_ready_p50_ms": "rung to ready, p50 ms",
    "ready_ratio": "rung to ready, in round trips",
}
_REPROJECTION: Final = {
    "events": "events",
    "blocks": "blocks",
    "held_at_kill": "blocks held when the worker was killed",
    "held_at_end": "blocks held at the end",
    "enqueued_again": "jobs enqueued again",
    "build_s": "build with the kill, s",
    "diff_s": "difference, s",
    "switch_s": "switch, s",
    "switch_back_s": "switch back, s",
    "runs": "runs beside live work",
    "search_p95_ms": "search alone, p95 ms",
    "search_p95_beside_ms": "search beside a build, p95 ms",
    "search_ratio": "search, beside by alone (median of runs)",
    "ready_p95_ms": "sealed to ready alone, p95 ms",
    "ready_p95_beside_ms": "sealed to ready beside a build, p95 ms",
    "ready_ratio": "sealed to ready, beside by alone (median of runs)",
}


def ingest_section(results: Sequence[Results]) -> Section:
    """Return the chapter on storing turns."""
    section = Section("Ingest")
    section.say(
        "Turns of two messages over HTTP, one at a time and in batches, beside two baselines of "
        "the same minutes: a hand-written INSERT of the two messages into a bare table, committed, "
        "through psycopg; and a route that does nothing. CPU is of the API's and of Postgres' "
        "processes; a baseline's client is not counted."
    )
    for one in results:
        section.say(f"### {one.path.stem}")
        section.add_table(
            ("what", "requests", "turns each", "p50 ms", "p95 ms", "turns a s", "API CPU ms a turn",
             "Postgres CPU ms a turn"),
            (
                (
                    row["what"],
                    str(row["requests"]),
                    str(row["turns_each"]),
                    number(row["p50_ms"]),
                    number(row["p95_ms"]),
                    number(row["turns_per_s"]),
                    number(row["api_cpu_ms"]),
                    number(row["postgres_cpu_ms"]),
                )
                for row in one.result["rows"]
            ),
        )  # fmt: skip
        section.add_table(
            ("ratio", "value"),
            ((name, number(value)) for name, value in one.result["ratios"].items()),
        )
        section.say(source_line(one))
    return section


def pipeline_section(results: Sequence[Results]) -> Section:
    """Return the chapter on the pipeline's rate."""
    section = Section("Pipeline")
    section.say(
        "Jobs a second when the model costs nothing, beside tasks that do nothing on the same "
        "worker in the same minutes. Method: [throughput](throughput.md)."
    )
    _add_side_by_side(section, results, _PIPELINE)
    return section


def reprojection_section(results: Sequence[Results]) -> Section:
    """Return the chapter on building a graph version beside live work."""
    section = Section("Re-projection")
    section.say(
        "A graph version is built beside the live one, its worker killed in the middle; then live "
        "work is measured without and with a build. Method: [re-projection](reprojection.md)."
    )
    _add_side_by_side(section, results, _REPROJECTION)
    return section


def memory_section(results: Sequence[Results]) -> Section:
    """Return the chapter on the memory of each process."""
    section = Section("Memory")
    section.say(
        "Of each process of a running stack, before any request and after a load: *RSS* counts "
        "shared pages in every process, *PSS* shares them out, so only PSS adds up. MiB."
    )
    for one in results:
        section.say(f"### {one.path.stem}")
        processes = one.result["processes"]
        columns = ("idle_rss_mib", "idle_pss_mib", "loaded_rss_mib", "loaded_pss_mib")
        rows = [
            (row["process"], str(row["count"]), *(number(row[name]) for name in columns))
            for row in processes
        ]
        sums = (sum(row[name] for row in processes) for name in ("idle_pss_mib", "loaded_pss_mib"))
        idle, loaded = (number(total) for total in sums)
        section.add_table(
            ("processes", "count", "idle RSS", "idle PSS", "loaded RSS", "loaded PSS"),
            [*rows, ("all", "", "", idle, "", loaded)],
        )
        section.add_figure(
            Figure(
                one.path.stem,
                f"Memory of the stack's processes, {one.path.stem}",
                [_memory(processes)],
                [one.digest],
            )
        )
        section.say(source_line(one))
    return section


def _memory(processes: Sequence[Mapping[str, Any]]) -> Bars:
    return Bars(
        "Proportional set size",
        "MiB",
        ["idle", "after load"],
        [Part(row["process"], [row["idle_pss_mib"], row["loaded_pss_mib"]]) for row in processes],
    )


def _add_side_by_side(
    section: Section, results: Sequence[Results], labels: Mapping[str, str]
) -> None:
    section.add_table(
        ("figure", *(one.path.stem for one in results)),
        (
            (label, *(_shown(one.result.get(name)) for one in results))
            for name, label in labels.items()
        ),
    )
    section.say(source_line(*results))


def _shown(value: Any) -> str:
    match value:
        case None:
            return "–"
        case Mapping():
            return ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
        case int() | float():
            return number(value)
        case _:
            return str(value)
