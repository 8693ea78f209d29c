"""A JobSet is deleted with its TrainJob, not before: Trainer would restart even a failed job."""

from __future__ import annotations

from functools import partial

import pytest

from tests.e2e.setup import CLUSTER, NEW, OLD
from tests.e2e.stage import Scene, Stage
from trainyard_rehearsal.checks.finished import check_finished
from trainyard_rehearsal.checks.jobs import Job, is_true
from trainyard_rehearsal.checks.request_cases import refusal_of
from trainyard_rehearsal.checks.sample_runs import wait_until_running
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.publication import sample_jobs

_JOBSETS = "jobset.x-k8s.io/v1alpha2"
_POLICY = "trainyard-no-orphans"
_REFUSED = "the JobSet of a TrainJob can't be deleted"
_OPERATORS = ("ml-platform", "system:authenticated")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize(
        "stage", [NEW, OLD], indirect=True, ids=[NEW.name, OLD.name], scope="session"
    ),
]


def _jobset(scene: Scene, job: Job) -> Body:
    """Return the JobSet of a job; empty when it has none."""
    return scene.api.find(_JOBSETS, "JobSet", job.name, job.namespace)


def _failed(stage: Stage) -> tuple[Scene, Job]:
    """Return a job that failed."""
    scene = stage.deploy({})
    job = scene.submit("nlp", 2)
    sample = next(
        each for each in scene.space("team-nlp").samples if each.launch.runtime.launcher.mpi
    )
    assert not wait_until_running(scene.lab, job, sample)
    job.finish("launcher", code=1)
    assert stage.until(lambda: is_true(job.body, "Failed"))
    return scene, job


def test_failed_job_starts_again_when_its_jobset_is_deleted(stage: Stage) -> None:
    """Without the policy, Trainer creates the JobSet again after each deletion."""
    scene, job = _failed(stage)
    stage.forget("ValidatingAdmissionPolicyBinding", _POLICY)
    seen = set()
    for _ in range(3):
        jobset = _jobset(scene, job)
        seen.add(jobset["metadata"]["uid"])
        assert stage.until(lambda: not _refused(scene, jobset))  # noqa: B023
        assert stage.until(
            lambda: _jobset(scene, job).get("metadata", {}).get("uid", "") not in {"", *seen}
        )


def test_jobset_of_a_trainjob_cannot_be_deleted(stage: Stage) -> None:
    """The policy refuses it to operators and administrators; it is deleted with the TrainJob."""
    scene, job = _failed(stage)
    first = _jobset(scene, job)

    assert stage.until(lambda: _REFUSED in _refused(scene, first))
    assert _REFUSED in str(refusal_of(partial(scene.api.delete, first)))
    assert _jobset(scene, job)["metadata"]["uid"] == first["metadata"]["uid"]

    job.delete()
    assert stage.until(lambda: job.is_gone and not _jobset(scene, job))


def test_jobset_without_a_trainjob_can_be_deleted(stage: Stage) -> None:
    """Platform operators can clean up a JobSet whose TrainJob is gone."""
    scene, job = _failed(stage)
    body = _jobset(scene, job)
    metadata = {"name": "left-behind", "namespace": job.namespace}
    scene.api.create({**body, "metadata": metadata, "spec": {**body["spec"], "suspend": True}})

    assert not _refused(scene, {**body, "metadata": metadata})


@pytest.mark.slow
def test_cleanup_deletes_finished_jobs_only(stage: Stage) -> None:
    """The CronJob's script deletes jobs that ended longer ago than the time to keep them."""
    cleanup = {"keep": "3d", "image": f"registry.example.com/platform/kubectl@sha256:{'1' * 64}"}
    scene = stage.deploy({f"clusters/{CLUSTER}.yaml": {"finishedJobs": cleanup}})
    assert not scene.refused
    settle(scene.lab)

    outcomes = list(check_finished(scene.lab, sample_jobs(scene.site, scene.manifests, "")))

    assert [(outcome.promise, outcome.tried) for outcome in outcomes] == [
        ("deleting a JobSet alone refused", 8),
        ("only finished jobs are deleted", 16),
    ]
    assert not [failure for outcome in outcomes for failure in outcome.failures]


def _refused(scene: Scene, body: Body) -> str:
    """Delete an object as a platform operator; return the API server's refusal, if any."""
    operator = scene.api.acting("somebody@ml-platform", _OPERATORS)
    return str(refusal_of(partial(operator.delete, body)) or "")
