"""Scenarios of the families ``runtime``, ``release`` and ``delivery``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.e2e.capacity import CPU, SIMULATION
from tests.e2e.objects import messages
from tests.e2e.setup import CLUSTER, bad, over
from tests.e2e.stage import Scene, Stage
from trainyard.model.manifest import Manifest
from trainyard.render.site import render_site
from trainyard_rehearsal.checks.jobs import as_user
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.refusal import Refused


def deprecated_runtime(stage: Stage) -> None:
    """Trainer warns about a job that is submitted to the runtime."""
    scene = stage.deploy(bad("runtime/deprecated-runtime"))
    assert any("deprecated" in each for each in _warnings(scene, "openmpi-cuda-v1-dgx-h100"))
    assert not _warnings(scene, "openmpi-cuda-v2-dgx-h100")


def older_version_without_end(stage: Stage) -> None:
    """Trainer does not warn about a job that is submitted to the older version."""
    scene = stage.deploy(bad("runtime/older-version-without-end"))
    assert not _warnings(scene, "openmpi-cuda-v1-dgx-h100")


def _warnings(scene: Scene, runtime: str) -> tuple[str, ...]:
    """Return the warnings about a job that a user of team nlp submits to a runtime."""
    body = scene.body("nlp", 2)
    body["spec"] = {**body["spec"], "runtimeRef": {**body["spec"]["runtimeRef"], "name": runtime}}
    job = scene.create("nlp", body)
    job.delete()
    assert scene.stage.until(lambda: job.is_gone)
    return as_user(scene.api, scene.space("team-nlp")).create(body, dry_run=True).warnings


def newer_version_deprecated(stage: Stage) -> None:
    """Trainer also warns the teams that already moved to the newer version."""
    scene = stage.deploy(bad("runtime/newer-version-deprecated"))
    assert any("deprecated" in each for each in _warnings(scene, "openmpi-cuda-v2-dgx-h100"))
    assert not _warnings(scene, "openmpi-cuda-v3-dgx-h100")


def runtime_without_hardware(stage: Stage) -> None:
    """The team lacks the runtime, and the API server refuses a job with it."""
    scene = stage.deploy(bad("runtime/runtime-without-hardware"))
    _no_runtime(scene, "deepspeed")


def unused_runtime(stage: Stage) -> None:
    """The cluster lacks the runtime, and the API server refuses a job with it."""
    scene = stage.deploy(bad("runtime/unused-runtime"))
    _no_runtime(scene, "deepspeed")


def _no_runtime(scene: Scene, name: str) -> None:
    runtimes = scene.api.list("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime")
    assert runtimes
    assert not [each for each in runtimes if name in each["metadata"]["name"]]
    body = scene.body("nlp", 2)
    body["spec"] = {
        **body["spec"],
        "runtimeRef": {**body["spec"]["runtimeRef"], "name": f"{name}-v1-dgx-h100"},
    }
    assert scene.denied("nlp", body, "spec.runtimeRef must name one of the ClusterTrainingRuntimes")


def version_differs_from_file(stage: Stage) -> None:
    """Version 3 becomes a separate runtime, beside the versions of the other."""
    stage.deploy(bad("runtime/version-differs-from-file"))
    runtimes = stage.api.list("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime")
    names = {each["metadata"]["name"] for each in runtimes}
    assert names == {"openmpi-cuda-v1-v3-dgx-h100", "openmpi-cuda-v2-dgx-h100"}


def version_given_twice(stage: Stage) -> None:
    """Two files become one object, so one of the two images is lost."""
    scene = stage.deploy(bad("runtime/version-given-twice"))
    (runtime,) = stage.api.list("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime")
    there = [each.image in str(runtime) for each in scene.platform.runtimes]
    assert sorted(there) == [False, True]


def gpu_in_resource_name(stage: Stage) -> None:
    """A virtual function counts as a GPU, and torchrun does not get the number of processors."""
    for fabric, changes, ranks in (
        ("gpu-net", bad("runtime/gpu-in-resource-name"), "auto"),
        ("ib", {}, "124"),
    ):
        scene = stage.deploy(over(changes, _processors(fabric)))
        body = scene.body("nlp", 2)
        del body["spec"]["trainer"]["numProcPerNode"]
        job = scene.create("nlp", body)
        assert stage.until(lambda job=job: bool(job.pods))  # type: ignore[misc]
        (container,) = job.pods[0].body["spec"]["containers"]
        assert {each["name"]: each.get("value") for each in container["env"]}[
            "PET_NPROC_PER_NODE"
        ] == ranks


def _processors(fabric: str) -> dict[str, Any]:
    """Return changes: CPU nodes of team nlp with a virtual function, and torchrun on them."""
    rail = {
        "pci": "0000:18:00.0",
        "interface": "ibp24s0",
        "device": "mlx5_0",
        "numa": 0,
        "role": "rail",
    }
    nic = {"vendor": "15b3", "device": "1021", "rate": 400, "virtualFunctions": 8}
    runtime = {**SIMULATION, "libraries": {"torch": "2.6.0"}, "launcher": "torchrun"}
    return {
        "hardware/cpu.yaml": {**CPU, "nic": nic, "nics": [rail]},
        "runtimes/simulation.yaml": runtime,
        f"clusters/{CLUSTER}.yaml": {
            "pools": {"cpu": {"nodes": 5, "reserve": 1, "fabric": fabric}}
        },
        "teams/nlp.yaml": {
            "runtimes": ["simulation"],
            "quota": {CLUSTER: {"cpu": {"nodes": 4}, "dgx-h100": None}},
        },
    }


def volume_without_claim(stage: Stage) -> None:
    """The job is admitted, and its pods wait for a claim that does not exist."""
    scene = stage.deploy(bad("runtime/volume-without-claim"))
    body = scene.body("vision", 2)
    job = scene.create("vision", body)
    assert scene.runs(job)
    words = 'persistentvolumeclaim "scratch" not found'
    assert scene.pods_show(words, job)
    assert job.is_admitted


def invalid_manifest(stage: Stage) -> None:
    """Strict validation refuses a field that the release does not know; a patch drops it."""
    scene = stage.deploy({})
    body = {**scene.body("nlp", 2)}
    body["spec"] = {**body["spec"], "runtimePatches": [{"manager": "ml.example.com/job"}]}
    with pytest.raises(Refused, match=r"\.spec\.runtimePatches: field not declared in schema"):
        stage.api.apply(body, dry_run=True)
    kept = stage.api.patch(
        scene.create("nlp", scene.body("nlp", 2)).body, {"spec": {"runtimePatches": []}}
    )
    assert "runtimePatches" not in kept.body["spec"]


def known_bad_pair(stage: Stage) -> None:
    """A job is admitted, holds its quota, and does not start: Trainer ignores Kueue's patch."""
    scene = stage.deploy({})
    job = scene.submit("nlp", 4)
    assert stage.until(lambda: "kueue runtime patch not found" in stage.log("kueue"))
    assert scene.waits(scene.submit("nlp", 2), "insufficient unused quota")
    assert not job.pods


def profile_vanished(stage: Stage) -> None:
    """A team's queue terminates after its last job; without the runtime no job is accepted."""
    scene = _queue_ends(stage)
    stage.forget("ClusterTrainingRuntime", "openmpi-cuda-v1-dgx-h100")
    assert scene.denied(
        "vision", scene.body("vision", 2), "specified clusterTrainingRuntime must be created before"
    )


def unit_vanished(stage: Stage) -> None:
    """The team's queue, in the platform's unit, terminates; its roles, in its own unit, stay."""
    _queue_ends(stage)
    assert stage.api.get("rbac.authorization.k8s.io/v1", "RoleBinding", "user", "team-nlp")


def _queue_ends(stage: Stage) -> Scene:
    """Delete a queue whose job runs; it terminates after that job."""
    scene = stage.deploy({})
    job = scene.submit("nlp", 2)
    assert scene.runs(job)
    stage.forget("ClusterQueue", "nlp-gpu")
    words = "Can't admit new workloads; clusterQueue is terminating"
    assert stage.until(
        lambda: (
            words in messages(stage.api.get("kueue.x-k8s.io/v1beta2", "ClusterQueue", "nlp-gpu"))
        )
    )
    assert job.is_admitted
    return scene


def server_of_two_clusters(stage: Stage) -> None:
    """Two platform units overwrite each other's objects."""
    release = {"release": stage.setup.settings["release"]}
    scene = stage.deploy(
        bad("delivery/server-of-two-clusters", **{"clusters/prod-west.yaml": release})
    )
    west = next(site for site in scene.platform.sites if site.name == "prod-west")
    theirs, ours = (_platform(each) for each in (render_site(west), scene.manifests))
    contested = [key for key in theirs.keys() & ours.keys() if theirs[key] != ours[key]]
    assert contested
    for key in contested:
        _assert_overwritten(stage, theirs[key], ours[key])


def _assert_overwritten(stage: Stage, one: Body, other: Body) -> None:
    """Apply two objects of one name in turn; each must get a new resource version."""
    versions = set()
    for body in (one, other, one, other):
        version = stage.api.apply(body).body["metadata"]["resourceVersion"]
        assert version not in versions
        versions.add(version)


def _platform(manifests: Iterable[Manifest]) -> dict[tuple[str, str, str], Body]:
    return {
        (each.body["kind"], each.namespace, each.name): each.body
        for each in manifests
        if each.unit == "platform"
    }
