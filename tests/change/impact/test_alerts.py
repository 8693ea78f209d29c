"""What `diff` says of a cluster's alerts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.change.impact.platforms import CLUSTER, sides
from trainyard.change.impact.compare import compare
from trainyard.cli.impact.sections import sections

STATES = {CLUSTER: {"external": {"Metrics/job-states": "OpenShift team"}}}


def lines(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    (cluster,) = compare([sides(before, after)], None).clusters
    return [
        line
        for section in sections(cluster, fields=False)
        if section.title == "Alerts"
        for line in section.lines
    ]


def stated(**monitoring: Any) -> dict[str, Any]:
    """Return the base with a source of job states, and what else its monitoring states."""
    return {CLUSTER: {**STATES[CLUSTER], "monitoring": monitoring}}


def test_alerts_that_lose_their_metrics_are_named() -> None:
    """And those that gain them."""
    alerts = "TrainyardJobNotRunning, TrainyardJobWaitsTooLong, TrainyardSriovSyncFailed"
    info = "1 alert (info): TrainyardPoolPaused"
    warning = f"3 alerts (warning): {alerts}"
    assert lines(STATES, {}) == [f"- {info}", f"- {warning}"]
    assert lines({}, STATES) == [f"+ {info}", f"+ {warning}"]


def test_a_cluster_without_monitoring_loses_all() -> None:
    *found, prometheus = lines({}, {CLUSTER: {"monitoring": None}})
    assert [line[:2] for line in found] == ["- "] * len(found)
    assert prometheus.startswith("~ the Prometheus: openshift in ")
    assert prometheus.endswith(" -> none")
    assert any("critical" in line and "and " in line for line in found)


@pytest.mark.parametrize("severity", ["warning", "info"])
def test_another_severity_is_named_with_its_alert(severity: str) -> None:
    found = lines({}, stated(severity={"TrainyardGpuXid": severity}))
    assert f"~ TrainyardGpuXid: critical -> {severity}" in found


def test_another_time_of_a_priority_is_named() -> None:
    before, after = stated(), stated(waiting={"production": "20m"})
    line = "~ a job of priority production waits {} until an alert fires"
    assert lines(before, after) == [line.format("1d -> 20m")]
    assert lines(after, before) == [line.format("20m -> 1d")]
