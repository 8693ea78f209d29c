"""The dashboards, asked of a real Prometheus while real controllers run a job."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.setup import NEW, OLD, Setup, monitored
from tests.e2e.stage import Scene, Stage
from tests.e2e.watching import Prometheus, watching
from trainyard.model.monitoring import CONSOLE, GRAFANA_SIDECAR
from trainyard.render.dashboards.boards import boards
from trainyard_rehearsal.checks.jobs import Job

pytestmark = pytest.mark.e2e

SHOWN = {
    "job: Jobs: A",
    "job: Jobs: B",
    "job: Pods: A",
    "job: Status: A",
    "platform: Nodes borrowed: A",
    "platform: Nodes idle: A",
    "platform: Nodes out of use: A",
    "platform: Nodes promised: A",
    "platform: Nodes used: A",
    "platform: Queues that admit nothing: A",
    "platform: Quota used: A",
    "platform: Waiting jobs: A",
    "platform: Waiting time: A",
    "team: Nodes borrowed: A",
    "team: Nodes: A",
    "team: Nodes: B",
    "team: Running jobs: A",
    "team: TrainJobs of the limit: A",
    "team: Waiting jobs: A",
    "team: Waiting time: A",
    "team: Waiting time: B",
}
"""Queries that need no kubelet, GPU or card, no job that ended, and no eviction."""


def with_dashboards(setup: Setup) -> dict[str, Any]:
    """Return the change of a setup's cluster that gives it dashboards."""
    viewer = CONSOLE if setup is OLD else GRAFANA_SIDECAR
    ((file, change),) = monitored(setup).items()
    return {file: {**change, "monitoring": {**change["monitoring"], "dashboards": viewer}}}


@pytest.fixture
def watched(stage: Stage, tmp_path: Path) -> Iterator[tuple[Scene, Prometheus]]:
    """A control plane of a release with dashboards, and a Prometheus with the tree's rules."""
    scene = stage.deploy(with_dashboards(stage.setup))
    rules = [
        {"name": group["name"], "rules": group["rules"]}
        for each in scene.manifests
        if each.kind.name == "PrometheusRule"
        for group in each.body["spec"]["groups"]
    ]
    with watching(scene, tmp_path, rules) as prometheus:
        yield scene, prometheus


def queries(scene: Scene, job: Job) -> dict[str, str]:
    """Return the queries of all panels, with a job chosen."""
    values = {
        "namespace": job.namespace,
        "team": job.namespace.removeprefix("team-"),
        "job": job.name,
        "baseline": job.name,
        "__range": "1h",
    }
    found = {}
    for board in boards(scene.site.cluster):
        model = json.loads(board.json)
        rows = model.get("rows") or [model]
        for panel in (panel for row in rows for panel in row["panels"]):
            for target in panel.get("targets", ()):
                query = re.sub(
                    r"\$(__range|namespace|team|job|baseline)\b",
                    lambda match: values[match[1]],
                    target["expr"],
                )
                found[f"{board.dashboard.name}: {panel['title']}: {target['refId']}"] = query
    return found


def silent(prometheus: Prometheus, asked: dict[str, str]) -> set[str]:
    """Return the queries without an answer; an error ends the test."""
    return {name for name, query in asked.items() if not prometheus.query(query)}


def listed(prometheus: Prometheus, query: str) -> set[str]:
    return {each.labels["pod"] for each in prometheus.query(query)}


def values(prometheus: Prometheus, query: str) -> list[float]:
    return [each.value for each in prometheus.query(query)]


@pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=lambda setup: setup.name)
def test_every_panel_is_asked(watched: tuple[Scene, Prometheus]) -> None:
    """No query fails, and those that this control plane can answer show the job."""
    scene, prometheus = watched
    job = scene.submit("nlp", 2)
    assert scene.runs(job)
    asked = queries(scene, job)
    assert {*asked} >= SHOWN
    assert prometheus.until(lambda: not silent(prometheus, asked) & SHOWN), sorted(
        silent(prometheus, asked) & SHOWN
    )
    pods = {pod.body["metadata"]["name"] for pod in job.pods}
    assert prometheus.until(lambda: listed(prometheus, asked["job: Pods: A"]) == pods)
    # Kueue reports the use of a queue when it next looks at the queue.
    assert prometheus.until(lambda: values(prometheus, asked["team: Nodes: B"]) == [2])
    assert silent(prometheus, asked) <= {*asked} - SHOWN
