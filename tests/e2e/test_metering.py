"""The series of use, from a real Prometheus that scrapes the real Kueue of each release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.setup import NEW, OLD, bad, monitored, over
from tests.e2e.stage import Scene, Stage
from tests.e2e.test_use import queries
from tests.e2e.watching import Prometheus, watching

pytestmark = pytest.mark.e2e

CLUSTER = "clusters/prod-east.yaml"
PAID = {
    CLUSTER: {"pools": {"dgx-h100": {"nodeHour": "98.32 USD"}}},
    "teams/nlp.yaml": {"costCenter": "RES-100"},
}
SILENT = {"busy_gpus"}
"""Words of the queries that need a GPU."""


@pytest.fixture
def watched(stage: Stage, tmp_path: Path) -> Iterator[tuple[Scene, Prometheus]]:
    """A control plane on which `nlp` owns 4 nodes and borrows 1 of the 4 of `vision`."""
    changes: dict[str, Any] = bad("scheduling/job-on-borrowed-nodes", **PAID)
    scene = stage.deploy(over(changes, monitored(stage.setup)))
    rules = [
        {"name": group["name"], "rules": group["rules"]}
        for each in scene.manifests
        if each.name == "trainyard-facts"
        for group in each.body["spec"]["groups"]
    ]
    with watching(scene, tmp_path, rules) as prometheus:
        yield scene, prometheus


def nodes(prometheus: Prometheus, what: str) -> dict[str, float]:
    found = prometheus.query(f"trainyard:team:{what}_nodes")
    assert {each.labels["pool"] for each in found} <= {"dgx-h100"}
    return {each.labels["team"]: each.value for each in found}


@pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=lambda setup: setup.name)
def test_kueue_reports_what_each_team_holds(watched: tuple[Scene, Prometheus]) -> None:
    """Borrowed nodes count for the borrower, and after an eviction no longer."""
    scene, prometheus = watched
    job = scene.submit("nlp", 5)
    assert scene.runs(job)
    assert prometheus.until(lambda: nodes(prometheus, "held") == {"nlp": 5, "vision": 0})
    assert prometheus.until(lambda: nodes(prometheus, "borrowed") == {"nlp": 1, "vision": 0})
    assert prometheus.until(lambda: nodes(prometheus, "idle") == {"nlp": 0, "vision": 4})

    owner = scene.submit("vision", 4)
    assert scene.is_evicted(job, "due to reclamation within the cohort")
    assert scene.runs(owner)
    assert prometheus.until(lambda: nodes(prometheus, "held") == {"nlp": 0, "vision": 4})
    assert prometheus.until(lambda: nodes(prometheus, "idle") == {"nlp": 4, "vision": 0})

    # The step of five minutes may have no time in this minute.
    asked = {each.replace("31d:5m", "31d:1s") for each in queries()}
    silent = {each for each in asked if not prometheus.query(each)}
    assert {word for word in SILENT for each in silent if word in each} == SILENT
    assert len(silent) == len(SILENT)
    (money,) = [each for each in asked if "31d:1s" in each]
    paid = {each.labels.get("cost_center", ""): each.value for each in prometheus.query(money)}
    assert paid.keys() == {"RES-100", ""}
    assert paid["RES-100"] == pytest.approx(paid[""])
