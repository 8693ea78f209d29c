"""Rules of the families ``runtime``, ``release`` and ``delivery``, seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.e2e.access import may
from tests.e2e.capacity import CPU, SIMULATION
from tests.e2e.stage import CLUSTER, Scene, Stage, bad, over
from trainyard.model.manifest import Manifest
from trainyard.render.site import render_site
from trainyard_rehearsal.checks.jobs import as_user, conditions
from trainyard_rehearsal.control_plane.api import Body, Refused


def deprecated_runtime(stage: Stage) -> None:
    """Trainer warns at the submission."""
    scene = stage.stand(bad("runtime/deprecated-runtime"))
    assert any("deprecated" in each for each in _warnings(scene, "openmpi-cuda-v1-dgx-h100"))
    assert not _warnings(scene, "openmpi-cuda-v2-dgx-h100")


def older_version_without_end(stage: Stage) -> None:
    """Who submits to the older version is told nothing."""
    scene = stage.stand(bad("runtime/older-version-without-end"))
    assert not _warnings(scene, "openmpi-cuda-v1-dgx-h100")


def _warnings(scene: Scene, runtime: str) -> tuple[str, ...]:
    """Return what a user of team nlp is told who submits a job to a runtime."""
    body = scene.body("nlp", 2)
    body["spec"] = {**body["spec"], "runtimeRef": {**body["spec"]["runtimeRef"], "name": runtime}}
    job = scene.create("nlp", body)
    job.delete()
    assert scene.stage.until(lambda: job.is_gone)
    return as_user(scene.api, scene.space("team-nlp")).create(body, dry_run=True).warnings


def newer_version_deprecated(stage: Stage) -> None:
    """Who moved to the newer version is told to move again, and so is who stayed."""
    scene = stage.stand(bad("runtime/newer-version-deprecated"))
    assert any("deprecated" in each for each in _warnings(scene, "openmpi-cuda-v2-dgx-h100"))
    assert not _warnings(scene, "openmpi-cuda-v3-dgx-h100")


def runtime_without_hardware(stage: Stage) -> None:
    """The team has no such runtime, and the API server refuses a job with it."""
    scene = stage.stand(bad("runtime/runtime-without-hardware"))
    _no_runtime(scene, "deepspeed")


def unused_runtime(stage: Stage) -> None:
    """The cluster has no such runtime, and the API server refuses a job with it."""
    scene = stage.stand(bad("runtime/unused-runtime"))
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
    """Version 3 of a runtime is a runtime of its own, beside the versions of the other."""
    stage.stand(bad("runtime/version-differs-from-file"))
    runtimes = stage.api.list("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime")
    names = {each["metadata"]["name"] for each in runtimes}
    assert names == {"openmpi-cuda-v1-v3-dgx-h100", "openmpi-cuda-v2-dgx-h100"}


def version_given_twice(stage: Stage) -> None:
    """Two files are one object, so that one of the two images is nowhere."""
    scene = stage.stand(bad("runtime/version-given-twice"))
    (runtime,) = stage.api.list("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime")
    there = [each.image in str(runtime) for each in scene.platform.runtimes]
    assert sorted(there) == [False, True]


def gpu_in_resource_name(stage: Stage) -> None:
    """A virtual function is taken for a GPU, and torchrun isn't told how many processors there
    are."""
    for fabric, changes, ranks in (
        ("gpu-net", bad("runtime/gpu-in-resource-name"), "auto"),
        ("ib", {}, "124"),
    ):
        scene = stage.stand(over(changes, _processors(fabric)))
        body = scene.body("nlp", 2)
        del body["spec"]["trainer"]["numProcPerNode"]
        job = scene.create("nlp", body)
        assert stage.until(lambda job=job: bool(job.pods))  # type: ignore[misc]
        (container,) = job.pods[0].body["spec"]["containers"]
        assert {each["name"]: each.get("value") for each in container["env"]}[
            "PET_NPROC_PER_NODE"
        ] == ranks


def _processors(fabric: str) -> dict[str, Any]:
    """Return team nlp's nodes without GPUs, with a virtual function of a fabric, and torchrun on
    them."""
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
    """The job is admitted, and its pods wait for a claim that nobody asks for."""
    scene = stage.stand(bad("runtime/volume-without-claim"))
    body = scene.body("vision", 2)
    job = scene.create("vision", body)
    assert scene.runs(job)
    words = 'persistentvolumeclaim "scratch" not found'
    assert stage.until(lambda: any(words in _told(pod.body) for pod in job.pods))
    assert job.is_admitted


def _told(body: dict[str, object]) -> str:
    return "; ".join(str(each.get("message", "")) for each in conditions(body))


def invalid_manifest(stage: Stage) -> None:
    """A field that the release does not know is refused where it is asked to be checked, and else
    dropped."""
    scene = stage.stand({})
    body = {**scene.body("nlp", 2)}
    body["spec"] = {**body["spec"], "runtimePatches": [{"manager": "ml.example.com/job"}]}
    with pytest.raises(Refused, match=r"\.spec\.runtimePatches: field not declared in schema"):
        stage.api.apply(body, dry_run=True)
    kept = stage.api.patch(
        scene.create("nlp", scene.body("nlp", 2)).body, {"spec": {"runtimePatches": []}}
    )
    assert "runtimePatches" not in kept.body["spec"]


def unserved_version(stage: Stage) -> None:
    """The API server knows no such kind in that version."""
    scene = stage.stand(bad("release/unserved-version"))
    assert (
        "no kind ExternalSecret in external-secrets.io/v1beta1"
        in scene.refused["ExternalSecret/tracking"]
    )


def known_bad_pair(stage: Stage) -> None:
    """A job is admitted, holds its quota, and never starts: Trainer makes no use of what Kueue
    writes."""
    scene = stage.stand({})
    job = scene.submit("nlp", 4)
    assert stage.until(lambda: "kueue runtime patch not found" in stage.log("kueue"))
    assert scene.waits(scene.submit("nlp", 2), "insufficient unused quota")
    assert not job.pods


def component_of_forbidden_kind(stage: Stage) -> None:
    """One more role binding opens what the team's own close; a queue of its own gets nothing of
    another team's."""
    scene = stage.stand({})
    binding = next(
        each.body for each in scene.manifests if each.path == "teams/vision/rolebinding-user.yaml"
    )
    subjects = [{"kind": "Group", "name": "strangers", "apiGroup": "rbac.authorization.k8s.io"}]
    more = {
        **binding,
        "metadata": {"name": "more", "namespace": "team-vision"},
        "subjects": subjects,
    }
    assert not may(stage, ["strangers"], "create trainjobs.trainer.kubeflow.org", "team-vision")
    stage.api.apply(more)
    try:
        assert stage.until(
            lambda: may(
                stage, ["strangers"], "create trainjobs.trainer.kubeflow.org", "team-vision"
            )
        )
    finally:
        stage.delete(more["apiVersion"], "RoleBinding", "team-vision", "more")
    _foreign_queue(scene)


def _foreign_queue(scene: Scene) -> None:
    """Look what a LocalQueue for another team's quota gives, policy or not."""
    queue = next(
        each.body for each in scene.manifests if each.path == "teams/nlp/localqueue-gpu.yaml"
    )
    spec = {**queue["spec"], "clusterQueue": "vision-gpu"}
    scene.api.apply({**queue, "metadata": {"name": "other", "namespace": "team-nlp"}, "spec": spec})
    try:
        assert scene.denied(
            "nlp", scene.body("nlp", 2, queue_name="other"), "kueue.x-k8s.io/queue-name"
        )
        scene.stage.forget("ValidatingAdmissionPolicyBinding", "trainjob-limits-nlp")
        assert scene.waits(
            scene.submit("nlp", 2, queue_name="other"), "doesn't match ClusterQueue selector"
        )
    finally:
        scene.stage.delete(queue["apiVersion"], "LocalQueue", "team-nlp", "other")


def profile_vanished(stage: Stage) -> None:
    """A team's queue ends behind its last job; without the runtime nobody can submit."""
    scene = _queue_ends(stage)
    stage.forget("ClusterTrainingRuntime", "openmpi-cuda-v1-dgx-h100")
    assert scene.denied(
        "vision", scene.body("vision", 2), "specified clusterTrainingRuntime must be created before"
    )


def unit_vanished(stage: Stage) -> None:
    """The team's queue, in the platform's unit, ends; its roles, in its own, stay."""
    _queue_ends(stage)
    assert stage.api.get("rbac.authorization.k8s.io/v1", "RoleBinding", "user", "team-nlp")


def _queue_ends(stage: Stage) -> Scene:
    """Take a queue away whose job runs, and see it end behind that job."""
    scene = stage.stand({})
    job = scene.submit("nlp", 2)
    assert scene.runs(job)
    stage.forget("ClusterQueue", "nlp-gpu")
    words = "Can't admit new workloads; clusterQueue is terminating"
    assert stage.until(
        lambda: words in _told(stage.api.get("kueue.x-k8s.io/v1beta2", "ClusterQueue", "nlp-gpu"))
    )
    assert job.is_admitted
    return scene


def server_of_two_clusters(stage: Stage) -> None:
    """What the one platform unit writes, the other writes again."""
    release = {"release": stage.ground.settings["release"]}
    scene = stage.stand(
        bad("delivery/server-of-two-clusters", **{"clusters/prod-west.yaml": release})
    )
    west = next(site for site in scene.platform.sites if site.name == "prod-west")
    theirs, ours = (_platform(each) for each in (render_site(west), scene.manifests))
    fought = [key for key in theirs.keys() & ours.keys() if theirs[key] != ours[key]]
    assert fought
    for key in fought:
        seen = {}
        for body in (theirs[key], ours[key], theirs[key], ours[key]):
            version = stage.api.apply(body).body["metadata"]["resourceVersion"]
            assert version not in seen
            seen[version] = body


def _platform(manifests: Iterable[Manifest]) -> dict[tuple[str, str, str], Body]:
    return {
        (each.body["kind"], each.namespace, each.name): each.body
        for each in manifests
        if each.unit == "platform"
    }
