"""Pods have the labels by which their lines are found later, as the README of a cluster states."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.e2e.objects import messages
from tests.e2e.setup import FILE, NEW, OLD, over
from tests.e2e.stage import Scene, Stage
from tests.e2e.test_plain_jobs import NLP, QUEUE, plain
from tests.e2e.test_small_launcher import WHOLE
from trainyard.render.unit import readme
from trainyard_rehearsal.checks.jobs import Job, Pod

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name]),
]

_TORCH = {**WHOLE, "hardware": ["dgx-h100"]}
_LOGGED: dict[str, Any] = {
    FILE: {"monitoring": {"stack": "prometheus-operator", "logs": {}}},
    "runtimes/torchrun.yaml": _TORCH,
    NLP: {"runtimes": ["openmpi-cuda", "torchrun"]},
}
_ROWS = re.compile(r"  \| `([^`]+)` \| (namespace|pod) \| ([^|]+) \|")


def _labels(scene: Scene) -> dict[str, str]:
    """Return the labels that the README names: what each is -> its key."""
    found = {what.partition(":")[0]: key for key, _, what in _ROWS.findall(readme(scene.site))}
    assert len(found) == 5, found
    return found


def _runtime(scene: Scene, name: str) -> str:
    launches = scene.space("team-nlp").launches
    (found,) = (each.name for each in launches if each.runtime.name == name)
    return found


def _started(scene: Scene, name: str, runtime: str, pods: int) -> Job:
    """Return a job whose pods run."""
    body = plain(name, _runtime(scene, runtime), pods)
    # Kueue learns of the default queue a moment after it was created.
    body["metadata"]["labels"] = {QUEUE: "default"}
    job = scene.create("nlp", body)
    assert _runs(scene, job, pods), [
        job.waiting_reason,
        *(f"{pod.name} {pod.phase}: {messages(pod.body)}" for pod in job.pods),
    ]
    return job


def _runs(scene: Scene, job: Job, pods: int) -> bool:
    return scene.stage.until(
        lambda: len(job.pods) == pods and all(pod.phase == "Running" for pod in job.pods)
    )


def _metadata(scene: Scene, pod: Pod) -> tuple[str, str, str, str, str]:
    """Return team, job, role, number and restarts of a pod, from the labels alone."""
    keys = _labels(scene)
    namespace = scene.api.get("v1", "Namespace", pod.body["metadata"]["namespace"])
    labels = {**pod.body["metadata"]["labels"], **namespace["metadata"]["labels"]}
    (restarts,) = (key for what, key in keys.items() if what.startswith("number of restarts"))
    (number,) = (key for what, key in keys.items() if what.startswith("number of the pod"))
    return (
        labels[keys["team"]],
        labels[keys["job"]],
        labels[keys["role"]],
        labels[number],
        labels[restarts],
    )


def test_each_pod_of_an_mpi_job_is_found(stage: Stage) -> None:
    """Its launcher, and its workers by their numbers."""
    scene = stage.deploy(_LOGGED)

    job = _started(scene, "mpi", "openmpi-cuda", 3)

    assert sorted(_metadata(scene, pod) for pod in job.pods) == [
        ("nlp", "mpi", "launcher", "0", "0"),
        ("nlp", "mpi", "node", "0", "0"),
        ("nlp", "mpi", "node", "1", "0"),
    ]


def test_each_pod_of_a_torchrun_job_is_found(stage: Stage) -> None:
    """The number is the rank of the node: Trainer hands the same index to torchrun."""
    scene = stage.deploy(_LOGGED)

    job = _started(scene, "torch", "torchrun", 3)

    assert sorted(_metadata(scene, pod) for pod in job.pods) == [
        ("nlp", "torch", "node", str(index), "0") for index in range(3)
    ]
    for pod in job.pods:
        (container,) = pod.body["spec"]["containers"]
        (variable,) = (each for each in container["env"] if each["name"] == "PET_NODE_RANK")
        source = variable["valueFrom"]["fieldRef"]["fieldPath"]
        assert "batch.kubernetes.io/job-completion-index" in source


@pytest.mark.parametrize("runtime", ["openmpi-cuda", "torchrun"])
def test_after_an_eviction_only_name_and_uid_differ(stage: Stage, runtime: str) -> None:
    """Kueue suspends the job and starts it again; JobSet counts no restart."""
    scene = stage.deploy(_LOGGED)
    job = _started(scene, "evicted", runtime, 2)
    before = {pod.name: _metadata(scene, pod) for pod in job.pods}
    queue = next(
        each.body
        for each in scene.manifests
        if each.body["kind"] == "ClusterQueue" and "nlp" in each.name
    )

    scene.api.patch(queue, {"spec": {"stopPolicy": "HoldAndDrain"}})
    assert stage.until(lambda: not job.pods)
    scene.api.patch(queue, {"spec": {"stopPolicy": "None"}})
    assert _runs(scene, job, 2)

    after = {pod.name: _metadata(scene, pod) for pod in job.pods}
    assert sorted(after.values()) == sorted(before.values())
    assert not after.keys() & before.keys()
    stage.forget("ClusterQueue", queue["metadata"]["name"])


def test_a_restart_after_a_failure_is_counted(stage: Stage) -> None:
    """By JobSet. On OpenShift AI 3.5 there is none: its Trainer drops the field."""
    restarts = {"runtimes/torchrun.yaml": {**_TORCH, "restarts": 1}} if stage.setup is NEW else {}
    scene = stage.deploy(over(_LOGGED, restarts))
    job = _started(scene, "restarted", "torchrun", 2)

    job.finish("node", code=1)

    def is_restarted() -> bool:
        return {_metadata(scene, pod)[4] for pod in job.pods} == {"1"}

    assert stage.until(is_restarted if restarts else lambda: job.has_finished)
    if restarts:
        assert _runs(scene, job, 2)
        assert sorted(_metadata(scene, pod)[3] for pod in job.pods) == ["0", "1"]
