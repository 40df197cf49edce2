"""Dashboard, alerts and runbooks name what exists: metrics, labels and each other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared import metrics
from tests.support.promql import NotPromQL, check

ROOT = Path(__file__).resolve().parents[3]
DASHBOARD = ROOT / "deploy" / "grafana" / "stratagate.json"
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
SCRAPES = ROOT / "deploy" / "prometheus" / "prometheus.yml"
PAGES = ROOT / "docs" / "howto" / "alerts"
_SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
_ADDED_BY_PROMETHEUS = {"job", "instance", "le"}


def _series() -> dict[str, set[str]]:
    """Every series that a process of ours can serve, with its labels."""
    return {
        f"{collector._name}{suffix}": {*collector._labelnames} | _ADDED_BY_PROMETHEUS
        for collector in set(metrics.REGISTRY._collector_to_names)
        for suffix in _SUFFIXES[collector._type]
    }


def _alerts() -> dict[str, str]:
    """Each alert's name and expression. Expressions stand on a line of their own, quoted."""
    text = ALERTS.read_text(encoding="utf-8")
    found = re.findall(r"- alert: (\w+)\n\s+expr: '(.*)'\n\s+for: \d+m\n", text)
    assert len(found) == text.count("- alert:")
    return {name: expression.replace("''", "'") for name, expression in found}


def _panels() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return panels


def _expressions() -> list[str]:
    shown = [target["expr"] for panel in _panels() for target in panel.get("targets", [])]
    assert len(shown) > 15
    return [*shown, *_alerts().values()]


@pytest.mark.parametrize("expression", _expressions())
def test_every_metric_and_label_of_dashboard_and_alerts_exists(expression: str) -> None:
    series = _series()
    used = re.findall(r"(stratagate_\w+)(?:\{(.*?)\})?", expression)
    assert used or expression.startswith("up{")
    allowed: set[str] = set(_ADDED_BY_PROMETHEUS)
    for name, matchers in used:
        assert name in series, f"no process serves {name}"
        allowed |= series[name]
        assert {*re.findall(r"(\w+)(?:=|!)", matchers)} <= series[name]
    for grouped in re.findall(r"by \(([^)]*)\)", expression):
        assert {label.strip() for label in grouped.split(",")} <= allowed


@pytest.mark.parametrize("expression", _expressions())
def test_every_expression_is_one_that_prometheus_takes(expression: str) -> None:
    assert check(expression).shape == "vector"


@pytest.mark.parametrize(
    "expression",
    [
        "sum(stratagate_jobs",
        "rate(stratagate_rings_total)",
        "rate(stratagate_jobs[5m])",
        "delta(stratagate_rings_total[5m])",
        "increase(stratagate_rings_total[15s])",
        "sum(stratagate_rings_total[5m])",
        "histogram_quantile(0.95, sum by (kind) (rate(stratagate_job_seconds_bucket[5m])))",
        "stratagate_jobs{state=dead} > 0",
        "stratagate_jobs >> 0",
        "median(stratagate_jobs)",
    ],
)
def test_an_expression_that_prometheus_would_refuse_or_that_means_nothing_is_found(
    expression: str,
) -> None:
    with pytest.raises(NotPromQL):
        check(expression)


def test_every_alert_says_how_bad_it_is_and_for_whom() -> None:
    rules = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
    assert len(rules) == len(_alerts())
    for rule in rules:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "runbook"}
        assert re.search(r"[<>=]=? \d", rule["expr"]), "an alert compares with a number"
        used = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        kept = check(rule["expr"]).labels
        assert kept is None or used <= kept, f"{rule['alert']} names a label it has summed away"


def test_each_alert_has_its_page_with_the_same_rule_and_no_page_is_left_over() -> None:
    alerts = _alerts()
    assert {page.stem for page in PAGES.glob("*.md")} == set(alerts)
    text = ALERTS.read_text(encoding="utf-8")
    for name, expression in alerts.items():
        page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        assert expression in page, f"the page of {name} shows another rule"
        assert "## What to do, in order" in page
        assert f"runbook: docs/howto/alerts/{name}.md" in text


def test_all_that_is_promised_to_operators_is_shown() -> None:
    shown = " ".join(_expressions())
    served = {name for name in _series() if not name.endswith(("_sum", "_count"))}
    assert {name for name in served if name not in shown} == set()


def test_every_process_of_an_alert_is_scraped() -> None:
    scraped = set(re.findall(r"job_name: (\S+)", SCRAPES.read_text(encoding="utf-8")))
    assert scraped == {f"stratagate-{name}" for name in ("api", "worker", "relay", "upkeep")}


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    panels = _panels()
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
