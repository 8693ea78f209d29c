"""A control plane with its Prometheus and the tree's rules, and files that its exporters show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e import exporters
from tests.e2e.exporters import Gpu, Port
from tests.e2e.rules import groups, shortened
from tests.e2e.setup import monitored
from tests.e2e.stage import Scene, Stage
from tests.e2e.watching import Prometheus, watching


@dataclass(frozen=True, slots=True)
class Watched:
    """What is watched, and who watches.

    Args:
        gpu: of this host.
        ports: of this host, one for each rail of the first pool.
    """

    scene: Scene
    prometheus: Prometheus
    gpu: Gpu
    ports: tuple[Port, ...]


@contextmanager
def watched(stage: Stage, folder: Path, factor: int = 1, interval: str = "1s") -> Iterator[Watched]:
    """Deploy a tree with monitoring, and watch it by its own rules.

    Args:
        stage: the control plane; where Argo CD runs, it has delivered the base's tree.
        folder: an empty one.
        factor: by which the times of the rules are divided.
        interval: of scrapes.
    """
    changes = monitored(stage.setup)
    scene = stage.scene(changes) if stage.argocd else stage.deploy(changes)
    gpu = Gpu(folder / "gpu")
    devices = [rail.nic.device for rail in scene.site.cluster.pools[0].rails]
    ports = tuple(exporters.port(folder, device) for device in devices)
    stage.api.apply(exporters.node(scene))
    rules = shortened(groups(scene.manifests), factor)
    try:
        with watching(scene, folder, rules, interval) as prometheus:
            yield Watched(scene, prometheus, gpu, ports)
    finally:
        stage.delete("v1", "Node", "", exporters.HOST)
