"""Tells at the end of a run how many golden cases ran, and what was overruled by which decision."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line a golden file and one a decision; nothing when no golden test ran."""
    lines: list[str] = []
    total = 0
    decisions: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            told = dict(getattr(report, "user_properties", []))
            if "golden_file" not in told:
                continue
            total += told["golden_cases"]
            decisions.update(told["golden_overruled"])
            fields = sum(told["golden_overruled"].values())
            lines.append(
                f"{told['golden_file']:18} {told['golden_cases']:5} cases, "
                f"{fields:4} fields overruled, {outcome}"
            )
    if not lines:
        return
    terminalreporter.section("golden vectors")
    for line in sorted(lines):
        terminalreporter.write_line(line)
    terminalreporter.write_line(f"{'all':18} {total:5} cases")
    for decision, count in sorted(decisions.items(), key=lambda item: int(item[0][1:])):
        terminalreporter.write_line(f"overruled by {decision}: {count} fields")
