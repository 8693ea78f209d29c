"""A real Prometheus scrapes the real controllers, by the monitors of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.setup import NEW, OLD, monitored
from tests.e2e.stage import Scene, Stage
from tests.e2e.watching import Prometheus, watching

pytestmark = pytest.mark.e2e


@pytest.fixture
def watched(stage: Stage, tmp_path: Path) -> Iterator[tuple[Scene, Prometheus]]:
    """A control plane of a release, and the Prometheus that watches it."""
    scene = stage.deploy(monitored(stage.setup))
    with watching(scene, tmp_path) as prometheus:
        yield scene, prometheus


@pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=lambda setup: setup.name)
def test_every_controller_is_scraped(watched: tuple[Scene, Prometheus]) -> None:
    """Each source of the cluster that runs here is one target, in its own namespace."""
    scene, prometheus = watched
    controllers = {"jobset", "kueue", "trainer"}
    sources = {each.name: each.namespace for each in scene.site.cluster.sources}
    found = {each.labels["namespace"] for each in prometheus.query("up == 1")}
    assert found >= {sources[name] for name in controllers}
    assert len(prometheus.query("up == 1")) == len(controllers) + 1
