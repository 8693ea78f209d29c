"""Pods of runtimes: folder, home, volumes' group, and what they do not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.profiles.read import releases as shipped
from trainyard.render.site import render_site

RUNTIME = "runtimes/openmpi-cuda.yaml"
STEPS: dict[str, Any] = {
    "initialize": {
        "image": f"registry.example.com/s@sha256:{'a' * 64}",
        "volume": "scratch",
        "dataset": True,
    },
}
LAUNCHERS: dict[str, dict[str, Any]] = {
    "openmpi": {},
    "torchrun": {"launcher": "torchrun", "libraries": {"openmpi": None, "torch": "2.6"}},
}
launchers = pytest.mark.parametrize("launcher", LAUNCHERS)
releases = pytest.mark.parametrize("release", sorted(shipped()))


def templates(
    launcher: str, release: str = "kubernetes-1.36", **fields: Any
) -> dict[str, Mapping[str, Any]]:
    """Return the pod template of each role of the base's runtime."""
    changes = {
        RUNTIME: {**LAUNCHERS[launcher], **fields},
        "clusters/prod-east.yaml": {"release": release},
    }
    (site,) = platform_of(changes).sites
    (body,) = (
        each.body for each in render_site(site) if each.body["kind"] == "ClusterTrainingRuntime"
    )
    return {
        job["name"]: job["template"]["spec"]["template"]
        for job in body["spec"]["template"]["spec"]["replicatedJobs"]
    }


@launchers
def test_each_job_has_a_folder_on_the_volume(launcher: str) -> None:
    """Steps and ranks mount the folder that is named after the job, and each container knows the
    name."""
    found = templates(launcher, **STEPS)
    assert "dataset-initializer" in found
    for template in found.values():
        (container,) = template["spec"]["containers"]
        folders = {each["mountPath"]: each.get("subPathExpr") for each in container["volumeMounts"]}
        assert folders["/workspace"] == "$(TRAINYARD_JOB)"
        label = {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/jobset-name']"}}
        assert {"name": "TRAINYARD_JOB", "valueFrom": label} in container["env"]


@launchers
def test_steps_run_on_the_nodes_of_the_ranks(launcher: str) -> None:
    """A queue may have other pools: Kueue would count the steps there, against somebody else's
    quota."""
    selectors = [
        template["spec"].get("nodeSelector") for template in templates(launcher, **STEPS).values()
    ]

    assert len(selectors) > 1
    assert all(each == {"ml.example.com/node-type": "dgx-h100"} for each in selectors)


@releases
@launchers
def test_job_of_one_node_has_one_pod(launcher: str, release: str) -> None:
    """With steps before it; Kueue groups two pod sets or none."""
    roles = {"openmpi": "launcher", "torchrun": "node"}
    found = templates(launcher, release, maxNodes=1)

    assert [*found] == [roles[launcher]]
    assert "podset-group-name" not in str(found)
    with_steps = templates(launcher, release, maxNodes=1, **STEPS)
    assert [*with_steps] == ["dataset-initializer", roles[launcher]]


@launchers
def test_without_steps_there_is_no_folder(launcher: str) -> None:
    """A pod without a volume has no field about volumes."""
    assert "TRAINYARD_JOB" not in str(templates(launcher))


@launchers
def test_every_container_has_a_home_that_it_may_write_to(launcher: str) -> None:
    """An arbitrary uid has `/` otherwise: torchrun's ranks have a volume, MPI's the image's folder,
    steps `/tmp`."""
    for name, template in templates(launcher, **STEPS).items():
        (container,) = template["spec"]["containers"]
        home = {each["name"]: each.get("value") for each in container["env"]}["HOME"]
        volumes = {each["name"]: each for each in template["spec"]["volumes"]}
        mounted = [
            volumes[each["name"]] for each in container["volumeMounts"] if each["mountPath"] == home
        ]
        wanted = (
            [{"name": "ranks-home", "emptyDir": {}}]
            if (launcher, name) == ("torchrun", "node")
            else []
        )
        assert (home in {"/home/mpiuser", "/home/ranks", "/tmp"}, mounted) == (True, wanted)


@releases
@launchers
def test_volumes_are_not_walked_through_at_each_start(launcher: str, release: str) -> None:
    """Every pod has an fsGroup, its own or its SCC's, and a checkpoint volume has millions of
    files."""
    for template in templates(launcher, release, **STEPS).values():
        assert template["spec"]["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"


@releases
@launchers
def test_pods_name_no_mesh(launcher: str, release: str) -> None:
    """No profile declares a service mesh."""
    assert "istio" not in str(templates(launcher, release, **STEPS))


@pytest.mark.parametrize("release", ["openshift-ai-3.5", "kubernetes-1.36"])
def test_no_job_may_add_a_volume_by_the_name_of_a_runtimes_own(release: str) -> None:
    """A second volume of one name makes the pod invalid: the job would hold its quota and never
    start."""
    torchrun = {"launcher": "torchrun", "libraries": {"openmpi": None, "torch": "2.6.0"}}
    for runtime in ({}, torchrun):
        changes = {
            "clusters/prod-east.yaml": {"release": release},
            "runtimes/openmpi-cuda.yaml": runtime,
        }
        manifests = render_site(platform_of(changes).sites[0])
        (policy,) = (
            each
            for each in manifests
            if each.name == "trainyard-trainjob-limits" and "Policy" in each.kind.name
        )
        reserved = next(
            each["expression"].split("volume.name in [")[1].partition("]")[0]
            for each in policy.body["spec"]["validations"]
            if "volume.name in [" in each["expression"]
        )
        names = {
            volume["name"]
            for each in manifests
            if each.kind.name == "ClusterTrainingRuntime"
            for job in each.body["spec"]["template"]["spec"]["replicatedJobs"]
            for volume in job["template"]["spec"]["template"]["spec"].get("volumes", [])
        }
        assert names
        assert names <= set(reserved.replace("'", "").split(", "))
