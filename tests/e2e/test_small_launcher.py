"""Launchers without ranks on nodes that others need whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Scene, Stage
from tests.e2e.test_plain_jobs import BOTH, NLP, RUNTIME, ends, plain
from trainyard_rehearsal.checks.jobs import Job

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name]),
]

NODES = 4
KEPT = {"launcher": {"cores": 1, "memory": "4Gi"}}
WHOLE = {
    "version": 1,
    "image": f"registry.example.com/ml/pytorch@sha256:{'5' * 64}",
    "libraries": {"torch": "2.6.0"},
    "launcher": "torchrun",
    "hardware": ["cpu", "dgx-h100"],
    "sharedMemory": "64Gi",
    "maxNodes": 16,
}
MIXED: dict[str, Any] = {
    **BOTH,
    "hardware/cpu.yaml": {**BOTH["hardware/cpu.yaml"], **KEPT},
    "hardware/dgx-h100.yaml": KEPT,
    "clusters/prod-east.yaml": {
        "pools": {name: {"nodes": NODES, "reserve": 0} for name in ("cpu", "dgx-h100")}
    },
    RUNTIME: {"hardware": ["cpu", "dgx-h100"], "launcherPod": "small"},
    "runtimes/torchrun.yaml": WHOLE,
    NLP: {
        "runtimes": ["openmpi-cuda", "torchrun"],
        "quota": {"prod-east": {"cpu": {"nodes": NODES}}},
    },
}
"""A team with all nodes of two pools, of which one has a fabric, and with both kinds of jobs."""


def _runtime(scene: Scene, name: str, hardware: str) -> str:
    launches = scene.space("team-nlp").launches
    (found,) = (
        each.name
        for each in launches
        if (each.runtime.name, each.hardware.name) == (name, hardware)
    )
    return found


def _create(scene: Scene, name: str, hardware: str, nodes: int, runtime: str) -> Job:
    body = plain(name, _runtime(scene, runtime, hardware), nodes)
    body["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": _CLASSES[hardware]}
    job = scene.create("nlp", body)
    assert scene.runs(job)
    return job


_CLASSES = {"cpu": "cpu", "dgx-h100": "gpu"}


def _nodes(job: Job, role: str) -> set[str]:
    return {pod.node for pod in job.pods if pod.role == role}


def _has_launcher(scene: Scene, job: Job) -> bool:
    return scene.stage.until(lambda: bool(_nodes(job, "launcher") - {""}))


@pytest.mark.parametrize("hardware", sorted(_CLASSES))
def test_small_launchers_take_no_node_from_other_jobs(stage: Stage, hardware: str) -> None:
    """Each is on a node with ranks. When a job ends beside whose ranks another one's launcher may
    be, all other nodes of the quota still fit jobs that need them whole."""
    scene = stage.deploy(MIXED)
    jobs = [_create(scene, f"small-{i}", hardware, 1, "openmpi-cuda") for i in range(3)]
    for job in jobs:
        assert _has_launcher(scene, job)
    used = set().union(*(_nodes(job, "node") for job in jobs))

    assert set().union(*(_nodes(job, "launcher") for job in jobs)) <= used
    assert len(used) == 3
    assert ends(scene, jobs[0])
    assert ends(scene, jobs[1])
    _create(scene, "whole", hardware, NODES - 1, "torchrun")
