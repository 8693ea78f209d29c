"""Pods have the settings of their runtime; Trainer, JobSet and the API server keep them."""

from __future__ import annotations

import pytest

from tests.e2e.setup import NEW, OLD, bad
from tests.e2e.stage import Stage
from trainyard_rehearsal.checks.jobs import Job
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize(
        "stage", [NEW, OLD], indirect=True, ids=[NEW.name, OLD.name], scope="session"
    ),
]

_STEP = "dataset-initializer"
_NAME = "jobset.sigs.k8s.io/jobset-name"


def _pods(job: Job) -> dict[str, Body]:
    """Return a pod of each role of a job."""
    pods = [
        each
        for each in job.api.list("v1", "Pod")
        if each["metadata"]["labels"].get(_NAME) == job.name
    ]
    return {
        each["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"]: each for each in pods
    }


def _folder(pod: Body) -> str:
    """Return the folder of the volume that kubelet would mount at /workspace."""
    (container,) = pod["spec"]["containers"]
    (mount,) = (each for each in container["volumeMounts"] if each["mountPath"] == "/workspace")
    (source,) = (
        each["valueFrom"]["fieldRef"]
        for each in container["env"]
        if each["name"] == "TRAINYARD_JOB"
    )
    assert (mount["subPathExpr"], source["fieldPath"]) == (
        "$(TRAINYARD_JOB)",
        f"metadata.labels['{_NAME}']",
    )
    return str(pod["metadata"]["labels"][_NAME])


def _started(job: Job) -> bool:
    """End the step as soon as it runs; return whether the ranks have pods."""
    job.finish(_STEP)
    return {"launcher", "node"} <= _pods(job).keys()


def test_pods_have_the_settings_of_the_runtime(stage: Stage) -> None:
    """Steps and ranks share the job's own folder; ranks have the grace period and the hook."""
    scene = stage.deploy(
        bad("scheduling/no-return-after-steps", **{"runtimes/openmpi-cuda.yaml": {"grace": "90s"}})
    )
    settle(scene.lab)
    jobs = [scene.submit("nlp", 2), scene.submit("nlp", 2)]
    for job in jobs:
        assert scene.runs(job)
        assert stage.until(lambda job=job: _STEP in _pods(job))  # type: ignore[misc]
        steps = _pods(job)[_STEP]
        assert stage.until(lambda job=job: _started(job))  # type: ignore[misc]
        pods = _pods(job)
        assert {_folder(each) for each in (steps, pods["node"], pods["launcher"])} == {job.name}
        _assert_settings(pods)


def _assert_settings(pods: dict[str, Body]) -> None:
    for role in ("launcher", "node"):
        spec = pods[role]["spec"]
        assert spec["terminationGracePeriodSeconds"] == 90
        assert spec["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"
    (launcher,) = pods["launcher"]["spec"]["containers"]
    assert launcher["lifecycle"]["preStop"]["exec"]["command"]
    (node,) = pods["node"]["spec"]["containers"]
    assert node["startupProbe"]["periodSeconds"] == 1
    assert node["readinessProbe"]["periodSeconds"] == 60
